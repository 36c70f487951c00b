// A digest of the whole tree, as Apache's server computes it: the sum of the CRC-32 of each node (DigestCalculator).
import { Writer } from '../../protocol/index.ts'
import type { NodeKind, Tree } from './tree.ts'

/** Returns the digest of the tree, a signed 64-bit integer. The nodes below /zookeeper do not count. */
export function digestOf(tree: Tree): bigint {
  let sum = 0n
  for (const [path, node] of tree.entries) {
    if (path.startsWith('/zookeeper/')) continue
    const writer = new Writer()
    // The root has an empty path here.
    writer.bytes(Buffer.from(path === '/' ? '' : path))
    if (node.data !== null) writer.bytes(node.data)
    for (const zxid of [node.czxid, node.mzxid, node.pzxid]) writer.long(zxid)
    for (const time of [node.ctime, node.mtime]) writer.time(time)
    for (const version of [node.version, node.created, node.aversion]) writer.int(version)
    writer.long(ownerOf(node.kind))
    sum += BigInt(crc32(writer.take()))
  }
  return BigInt.asIntN(64, sum)
}

/** Returns the owner that Apache's server stores. It encodes the kind of the node (EphemeralType). */
function ownerOf(kind: NodeKind): bigint {
  if (kind.is === 'ephemeral') return kind.session
  if (kind.is === 'container') return -(2n ** 63n)
  return kind.is === 'ttl' ? BigInt.asIntN(64, 0xff00_0000_0000_0000n | BigInt(kind.ttl)) : 0n
}

/** Node.js 20.15 has crc32 in node:zlib. This server also runs on older ones. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0)
  }
  return ~crc >>> 0
}
