/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family drm-ras (Documentation/gpu/drm-ras.rst, include/uapi/drm/drm_ras.h of
 * Linux 7.1): nodes of a device, and the error counters of a node. Both are lists that need
 * CAP_NET_ADMIN.
 */
#include "host.h"

#include <linux/kernel.h>
#include <linux/version.h>
#include <net/genetlink.h>

enum { LIST_NODES = 1, GET_ERROR_COUNTER = 2 };
enum { NODE_ID = 1, NODE_DEVICE = 2, NODE_NAME = 3, NODE_TYPE = 4 };
enum { COUNTER_NODE = 1, COUNTER_ID = 2, COUNTER_NAME = 3, COUNTER_VALUE = 4, ATTRS_MAX = 4 };

static const char *const nodes[] = {"correctable-errors", "uncorrectable-errors"};
static const struct {
    unsigned int node;
    const char *name;
    unsigned int value; /* of the first one: host_errors */
} counters[] = {
    {0, "core-compute", 0},
    {0, "device-memory", 2},
    {1, "core-compute", 0},
    {1, "device-memory", 1},
};

static const struct nla_policy policy[ATTRS_MAX + 1] = {[COUNTER_NODE] = {.type = NLA_U32}};
static struct genl_family family;

static void *begin(struct sk_buff *skb, struct netlink_callback *cb, u8 command)
{
    return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family, NLM_F_MULTI,
                       command);
}

static int list_nodes(struct sk_buff *skb, struct netlink_callback *cb)
{
    for (; cb->args[0] < ARRAY_SIZE(nodes); cb->args[0]++) {
        unsigned int i = cb->args[0];
        void *head = begin(skb, cb, LIST_NODES);
        if (!head)
            break;
        if (nla_put_u32(skb, NODE_ID, i) || nla_put_string(skb, NODE_DEVICE, "0000:00:02.0") ||
            nla_put_string(skb, NODE_NAME, nodes[i]) || nla_put_u32(skb, NODE_TYPE, 1)) {
            genlmsg_cancel(skb, head);
            break;
        }
        genlmsg_end(skb, head);
    }
    return skb->len;
}

static struct nlattr **attrs_of(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
    return genl_dumpit_info(cb)->attrs;
#else
    return genl_info_dump(cb)->attrs;
#endif
}

static int get_counters(struct sk_buff *skb, struct netlink_callback *cb)
{
    struct nlattr **attrs = attrs_of(cb);
    if (!attrs || !attrs[COUNTER_NODE] || nla_get_u32(attrs[COUNTER_NODE]) >= ARRAY_SIZE(nodes))
        return -EINVAL;
    for (; cb->args[0] < ARRAY_SIZE(counters); cb->args[0]++) {
        unsigned int i = cb->args[0];
        unsigned int value = i == 0 ? READ_ONCE(host_errors) : counters[i].value;
        void *head;
        if (counters[i].node != nla_get_u32(attrs[COUNTER_NODE]))
            continue;
        head = begin(skb, cb, GET_ERROR_COUNTER);
        if (!head)
            break;
        if (nla_put_u32(skb, COUNTER_ID, i) ||
            nla_put_string(skb, COUNTER_NAME, counters[i].name) ||
            nla_put_u32(skb, COUNTER_VALUE, value)) {
            genlmsg_cancel(skb, head);
            break;
        }
        genlmsg_end(skb, head);
    }
    return skb->len;
}

static const struct genl_ops ops[] = {
    {.cmd = LIST_NODES, .dumpit = list_nodes, .flags = GENL_ADMIN_PERM},
    {.cmd = GET_ERROR_COUNTER, .dumpit = get_counters, .flags = GENL_ADMIN_PERM},
};

static struct genl_family family = {
    .name = "drm-ras",
    .version = 1,
    .maxattr = ATTRS_MAX,
    .policy = policy,
    .module = THIS_MODULE,
    .ops = ops,
    .n_ops = ARRAY_SIZE(ops),
};

int host_ras_register(void)
{
    return genl_register_family(&family);
}

void host_ras_unregister(void)
{
    genl_unregister_family(&family);
}
