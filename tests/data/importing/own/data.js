window.BENCHMARK_DATA = {"entries": {}}
