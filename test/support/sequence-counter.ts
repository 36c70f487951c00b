// Sets the next sequence number of a directory in the newest snapshot of a stopped server.
// Otherwise a test would need two thousand million creates.
// FileSnap of Apache ZooKeeper writes the tree, its checksum, the digest, and a checksum of all that. Since ZOOKEEPER-4570
// the last zxid and a third checksum follow.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The size of a checksum (a long) and the path "/". */
const CHECKSUM_SIZE = 8 + 4 + 1
/** The size of a zxid, the digest's version, and the digest. */
const DIGEST_SIZE = 8 + 4 + 8
const ZXID_SIZE = 8
/** The offset of cversion after a node's data: the ACL's number, two zxids, two times, and the version precede it. */
const CVERSION_OFFSET = 8 + 4 * 8 + 4

/**
 * @param dataDir directory of a stopped server. The server must have been started at least once after the directories
 *   were created, because it writes a snapshot when it starts.
 */
export function setCounters(dataDir: string, counters: Readonly<Record<string, number>>): void {
  const directory = join(dataDir, 'version-2')
  const zxidOf = (name: string) => parseInt(name.slice('snapshot.'.length), 16)
  const snapshots = readdirSync(directory).filter(name => name.startsWith('snapshot.'))
  const [newest] = snapshots.sort((a, b) => zxidOf(b) - zxidOf(a))
  if (newest === undefined) throw new Error(`${directory} contains no snapshot`)
  const file = join(directory, newest)
  const bytes = readFileSync(file)
  const isChecksum = (at: number) => bytes.readBigInt64BE(at) === adler32(bytes.subarray(0, at))
  const last = bytes.length - CHECKSUM_SIZE
  const withoutZxid = [last, last - DIGEST_SIZE - CHECKSUM_SIZE]
  const beforeZxid = last - ZXID_SIZE - CHECKSUM_SIZE
  const withZxid = [last, beforeZxid, beforeZxid - DIGEST_SIZE - CHECKSUM_SIZE]
  const checksums = [withoutZxid, withZxid].find(positions => positions.every(isChecksum))?.toReversed()
  if (checksums === undefined) throw new Error(`${file} has an unexpected checksum`)
  for (const [path, counter] of Object.entries(counters)) bytes.writeInt32BE(counter, cversionOf(bytes, path))
  for (const at of checksums) bytes.writeBigInt64BE(adler32(bytes.subarray(0, at)), at)
  writeFileSync(file, bytes)
}

function cversionOf(bytes: Buffer, path: string): number {
  const name = Buffer.from(path)
  const length = Buffer.alloc(4)
  length.writeInt32BE(name.length)
  const at = bytes.indexOf(Buffer.concat([length, name]))
  if (at === -1) throw new Error(`the snapshot does not contain ${path}`)
  const data = at + 4 + name.length
  return data + 4 + Math.max(0, bytes.readInt32BE(data)) + CVERSION_OFFSET
}

function adler32(bytes: Uint8Array): bigint {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return BigInt(b) * 65_536n + BigInt(a)
}
