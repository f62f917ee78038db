// Which expert a warp's tile belongs to, and which slots want it.

#pragma once

#include "expert_common.cuh"

// An expert with the slots that named it; expert < 0: one slot that named none, whose output is zero; no slots: nothing to do.
struct expert_route {
    int expert;
    unsigned slots;
};

// A lane below SLOTS knows its own slot's ID, and the slots with the same ID; a slot without one stands alone.
static __device__ __forceinline__ int own_id(const expert_task &task)
{
    const int lane = threadIdx.x % 32;
    return lane < SLOTS ? task.ids[lane / TOP * task.ids_stride + lane % TOP] : -1;
}

static __device__ __forceinline__ unsigned same_id(int id)
{
    const unsigned same = __match_any_sync(EVERY_LANE, id) & (1u << SLOTS) - 1;
    return id < 0 ? 1u << threadIdx.x % 32 : same;
}

static __device__ __forceinline__ expert_route route_of_lane(int lane, int id, unsigned slots)
{
    return {__shfl_sync(EVERY_LANE, id, lane), __shfl_sync(EVERY_LANE, slots, lane)};
}

// The route of a slot, unless an earlier one stands for it.
static __device__ __forceinline__ expert_route route_of_slot(int id, int slot)
{
    const expert_route route = route_of_lane(slot, id, same_id(id));
    return (route.slots & (1u << slot) - 1) == 0 ? route : expert_route{-1, 0};
}

// Place of a lane's slot among what there is to do: first the experts, as they are first named, then the slots without one; -1 if an
// earlier slot stands for it.
static __device__ __forceinline__ int place_of(int id, unsigned slots)
{
    const int lane = threadIdx.x % 32;
    const unsigned earlier = (1u << lane) - 1;
    const bool empty = lane < SLOTS && id < 0, first = id >= 0 && (slots & earlier) == 0;
    const unsigned firsts = __ballot_sync(EVERY_LANE, first), empties = __ballot_sync(EVERY_LANE, empty);
    return first ? __popc(firsts & earlier) : empty ? __popc(firsts) + __popc(empties & earlier) : -1;
}

// The route at a place, resolved by the warp that asks.
static __device__ __forceinline__ expert_route route_at(int id, int place)
{
    const unsigned slots = same_id(id), there = __ballot_sync(EVERY_LANE, place_of(id, slots) == place);
    return there == 0 ? expert_route{-1, 0} : route_of_lane(__ffs(there) - 1, id, slots);
}

// The routes at all places, resolved by one warp for its block.
static __device__ __forceinline__ void publish_routes(int id, expert_route *routes)
{
    const int lane = threadIdx.x % 32;
    const unsigned slots = same_id(id);
    const int place = place_of(id, slots);
    if (lane < SLOTS)
        routes[lane] = {-1, 0};
    __syncwarp();
    if (place >= 0)
        routes[place] = {id, slots};
}
