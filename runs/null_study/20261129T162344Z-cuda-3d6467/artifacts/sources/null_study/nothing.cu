extern "C" __global__ void null_study_nothing() {}
