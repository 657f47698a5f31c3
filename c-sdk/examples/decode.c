/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a WRITE, then reads it back as a receiver would: checksum, structure, members. Prints what it finds.
 *
 *     cc -Iinclude examples/decode.c src/wire.gen.c -o decode && ./decode
 *
 * With an argument, it reads that packet, in hex, instead.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "metaroce/wire.gen.h"

/* Writes one chunk of a message into buf: bytes used, or a negative code. */
static int32_t build(uint8_t *buf, size_t cap)
{
    static const uint8_t payload[] = "sixteen bytes...";
    struct mr_packet packet;
    struct mr_body_write *write = &packet.plain.u.write;

    mr_packet_init(&packet);
    packet.base.opcode = MR_OPCODE_WRITE;
    packet.base.path = 3;
    packet.base.tag = UINT64_C(0x1122334455667788);
    packet.base.psn = 7;
    packet.base.tsn = 9;
    packet.plain.kind = MR_BODY_KIND_WRITE;
    write->message.stream = 1;
    write->message.message = 42;
    write->message.length = sizeof payload - 1;
    write->write_target.key = UINT64_C(0xfeed);
    write->write_target.at = 4096;
    write->data.p = payload;
    write->data.len = sizeof payload - 1;
    return mr_packet_pack(&packet, buf, cap);
}

static int nibble(int c)
{
    const char *const digits = "0123456789abcdef";
    const char *const at = c != 0 ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* Reads hex digits: the number of bytes. */
static int32_t parse(const char *text, uint8_t *buf, size_t cap)
{
    size_t n = 0;

    for (; n < cap && nibble(text[0]) >= 0 && nibble(text[1]) >= 0; text += 2) {
        buf[n++] = (uint8_t)(nibble(text[0]) * 16 + nibble(text[1]));
    }
    return (int32_t)n;
}

static void show(const struct mr_packet *packet)
{
    const struct mr_body_write *const write = &packet->plain.u.write;

    printf("%s on path %u, psn %" PRIu32 "\n", mr_opcode_name(packet->base.opcode), packet->base.path, packet->base.psn);
    if (!mr_packet_plain_present(packet) || packet->plain.kind != MR_BODY_KIND_WRITE) {
        return;
    }
    printf("message %" PRIu32 " of stream %u: %lu bytes at %" PRIu64 " of region 0x%" PRIx64 "\n", write->message.message,
        write->message.stream, (unsigned long)write->data.len, write->write_target.at + write->message.offset,
        write->write_target.key);
    printf("data \"%.*s\"\n", (int)write->data.len, (const char *)write->data.p);
}

int main(int argc, char **argv)
{
    uint8_t buf[2048];
    struct mr_packet packet;
    struct mr_err err;
    int32_t n = argc > 1 ? parse(argv[1], buf, sizeof buf) : build(buf, sizeof buf);

    if (n < 0) {
        fprintf(stderr, "pack: %s\n", mr_error_text(n));
        return 1;
    }
    n = mr_packet_verify(buf, (size_t)n, &err);
    if (n < 0) {
        fprintf(stderr, "%s at byte %" PRIu32 " (%s): %s\n", mr_error_name(n), err.off, mr_field_name(err.field),
            mr_error_text(n));
        return 1;
    }
    (void)mr_packet_unpack(&packet, buf, (size_t)n);
    show(&packet);
    return 0;
}
