/* SPDX-License-Identifier: MIT */
/*
 * Loads for nvidia_loads.py, each of which keeps one part of an NVIDIA GPU busy:
 *
 *     nvidia_loads tensor|fp64|copy|up|down|peer|hold|fault SECONDS [MIB]
 *
 * tensor: products of half-precision matrices. fp64: dependent multiply-adds. copy: to the host,
 * from it, and within the GPU, from one stream each; says how many bytes went each way. up: only
 * from the host; down: only to it. peer: from the first GPU to the second; says how many bytes.
 * hold: has the memory and does nothing. fault: writes where nothing is, which the driver reports
 * as an Xid. All of them say "begun" once they are at it; MIB is memory that they have besides.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mma.h>
#include <thread>

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

__global__ void tensor(float *out, int n)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    wmma::fill_fragment(a, __float2half(0.001f));
    wmma::fill_fragment(b, __float2half(0.001f));
    for (int k = 0; k < 4; k++)
        wmma::fill_fragment(sum[k], 0.0f);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            wmma::mma_sync(sum[k], a, b, sum[k]);
    for (int k = 0; k < 4; k++)
        if (sum[k].x[0] < 0)
            out[0] = sum[k].x[0];
}

__global__ void fp64(double *out, int n)
{
    double x[4] = {1, 2, 3, 4};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            x[k] = fma(x[k], 0.999999, 1e-9);
    if (x[0] + x[1] + x[2] + x[3] < 0)
        out[0] = x[0];
}

__global__ void fault(int *nowhere)
{
    *nowhere = 1;
}

static double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static void begun()
{
    std::puts("begun");
    std::fflush(stdout);
}

static void copy(double end)
{
    const size_t size = 256 << 20;
    char *host[2], *gpu[4];
    cudaStream_t stream[3];
    unsigned long long rounds = 0;
    for (auto &p : host)
        must(cudaMallocHost(&p, size));
    for (auto &p : gpu)
        must(cudaMalloc(&p, size));
    for (auto &s : stream)
        must(cudaStreamCreate(&s));
    begun();
    double start = now();
    while (now() < end) {
        must(cudaMemcpyAsync(gpu[0], host[0], size, cudaMemcpyHostToDevice, stream[0]));
        must(cudaMemcpyAsync(host[1], gpu[1], size, cudaMemcpyDeviceToHost, stream[1]));
        for (int i = 0; i < 16; i++)
            must(cudaMemcpyAsync(gpu[2], gpu[3], size, cudaMemcpyDeviceToDevice, stream[2]));
        must(cudaDeviceSynchronize());
        rounds++;
    }
    std::printf("copied %llu bytes each way in %.3f s\n", rounds * size, now() - start);
}

static void one_way(double end, cudaMemcpyKind way)
{
    const size_t size = 1 << 28;
    char *host, *gpu;
    unsigned long long rounds = 0;
    must(cudaMallocHost(&host, size));
    must(cudaMalloc(&gpu, size));
    begun();
    double start = now();
    while (now() < end) {
        bool up = way == cudaMemcpyHostToDevice;
        for (int i = 0; i < 8; i++)
            must(cudaMemcpyAsync(up ? gpu : host, up ? host : gpu, size, way));
        must(cudaDeviceSynchronize());
        rounds += 8;
    }
    std::printf("copied %llu bytes one way in %.3f s\n", rounds * size, now() - start);
}

/* A copy is whole when it is counted: the last one ends within the time that is said. */
static void peer(double end)
{
    const size_t size = 1 << 30;
    char *at[2], address[2][16];
    unsigned long long rounds = 0;
    for (int i = 0; i < 2; i++) {
        must(cudaSetDevice(i));
        must(cudaDeviceEnablePeerAccess(1 - i, 0));
        must(cudaMalloc(&at[i], size));
        must(cudaDeviceGetPCIBusId(address[i], sizeof(address[i]), i));
    }
    must(cudaSetDevice(0));
    begun();
    double start = now();
    while (now() < end) {
        for (int i = 0; i < 16; i++)
            must(cudaMemcpyPeerAsync(at[1], 1, at[0], 0, size));
        must(cudaDeviceSynchronize());
        rounds += 16;
    }
    std::printf("copied %llu bytes from %s to %s in %.3f s\n", rounds * size, address[0],
                address[1], now() - start);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *kind = argv[1];
    double end = now() + std::atof(argv[2]);
    void *more = nullptr, *out;
    if (argc > 3)
        must(cudaMalloc(&more, std::strtoull(argv[3], nullptr, 10) << 20));
    must(cudaMalloc(&out, 64));
    if (std::strcmp(kind, "copy") == 0) {
        copy(end);
        return 0;
    }
    if (std::strcmp(kind, "up") == 0 || std::strcmp(kind, "down") == 0) {
        one_way(end, kind[0] == 'u' ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
        return 0;
    }
    if (std::strcmp(kind, "peer") == 0) {
        peer(end);
        return 0;
    }
    begun();
    if (std::strcmp(kind, "fault") == 0) {
        fault<<<1, 1>>>(nullptr);
        std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
        return 0;
    }
    while (now() < end) {
        if (std::strcmp(kind, "tensor") == 0)
            tensor<<<1056, 256>>>(static_cast<float *>(out), 20000);
        else if (std::strcmp(kind, "fp64") == 0)
            fp64<<<1056, 256>>>(static_cast<double *>(out), 20000);
        else
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        must(cudaDeviceSynchronize());
    }
    return 0;
}
