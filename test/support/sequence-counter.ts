// Sets the number that a directory gives next, which two thousand million creates would take otherwise: in the newest snapshot of a
// server that is not running. FileSnap of Apache ZooKeeper 3.8 writes the tree, its seal, the digest, and a seal of all that.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A checksum (a long) and the path "/". */
const CHECKSUM_SIZE = 8 + 4 + 1
/** A zxid, the digest's version, and the digest. */
const DIGEST_SIZE = 8 + 4 + 8
/** Behind the data of a node: its ACL's number, two transactions, two times, and the version. */
const CVERSION_OFFSET = 8 + 4 * 8 + 4

/** @param dataDir of a server that is stopped, and was started once since the directories were made: that writes a snapshot */
export function setCounters(dataDir: string, counters: Readonly<Record<string, number>>): void {
  const directory = join(dataDir, 'version-2')
  const zxidOf = (name: string) => parseInt(name.slice('snapshot.'.length), 16)
  const snapshots = readdirSync(directory).filter(name => name.startsWith('snapshot.'))
  const [newest] = snapshots.sort((a, b) => zxidOf(b) - zxidOf(a))
  if (newest === undefined) throw new Error(`there is no snapshot in ${directory}`)
  const file = join(directory, newest)
  const bytes = readFileSync(file)
  const seals = [bytes.length - CHECKSUM_SIZE - DIGEST_SIZE - CHECKSUM_SIZE, bytes.length - CHECKSUM_SIZE]
  for (const at of seals)
    if (bytes.readBigInt64BE(at) !== adler32(bytes.subarray(0, at)))
      throw new Error(`${file} is not sealed as expected`)
  for (const [path, counter] of Object.entries(counters)) bytes.writeInt32BE(counter, cversionOf(bytes, path))
  for (const at of seals) bytes.writeBigInt64BE(adler32(bytes.subarray(0, at)), at)
  writeFileSync(file, bytes)
}

function cversionOf(bytes: Buffer, path: string): number {
  const name = Buffer.from(path)
  const length = Buffer.alloc(4)
  length.writeInt32BE(name.length)
  const at = bytes.indexOf(Buffer.concat([length, name]))
  if (at === -1) throw new Error(`${path} is not in the snapshot`)
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
