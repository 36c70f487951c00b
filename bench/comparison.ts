// `npm start -- --compare`: compares two results, of `npm start` or of `npm start -- --peers`.
import { comparableOf, type Comparable } from './output/comparable.ts'
import { compare } from './output/compare.ts'
import { asResult, PEERS, readHeader } from './output/result.ts'
import { comparablePeers } from './peers/comparable.ts'
import { asPeersResult } from './peers/result.ts'

/** @throws Error that names the file, if it is missing or holds no result of this version */
export async function readComparable(file: string): Promise<Comparable> {
  const result = await readHeader(file)
  return result.what === PEERS ? comparablePeers(asPeersResult(file, result)) : comparableOf(asResult(file, result))
}

/**
 * Prints the comparison, and returns the exit code.
 * @throws Error if the results are of two kinds
 */
export function printComparison(older: Comparable, newer: Comparable, limit: number | undefined): number {
  if (older.what !== newer.what)
    throw new Error('a result of --peers can be compared only with another result of --peers')
  const { text, exitCode } = compare(older, newer, limit)
  process.stdout.write(`\n${text}`)
  return exitCode
}
