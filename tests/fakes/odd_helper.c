/* SPDX-License-Identifier: MIT */
/* A helper that says the bytes ODD_BYTES and lives on for ten seconds; without bytes it ends. */
#include "harness/helper_self.h"
#include "lanes/channel.h"
#include "lanes/peer.h"

int main(void)
{
    static const char bytes[] = ODD_BYTES;
    if (sizeof(bytes) == 1)
        return 0;
    if (!helper_self_open() ||
        gtel_peer_send(HELPER_SELF_WAY, (struct gtel_str){bytes, sizeof(bytes) - 1}) < 0)
        return 1;
    gtel_channel_nap(10000000000);
    return 0;
}
