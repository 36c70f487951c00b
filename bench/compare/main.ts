// `npm run bench -- compare OLDER NEWER`: compares two results, of `npm start` or of `npm run bench -- peers`.
// May import: bench/harness/server.ts, bench/output, bench/peers/libraries.ts, bench/peers/result.ts.
import { runProgram } from '../output/interrupted.ts'
import { asResult, PEERS, readHeader } from '../output/result.ts'
import { asPeersResult } from '../peers/result.ts'
import { digestOf, type Digest } from './digest.ts'
import { help, parseOptions, WORSE_EXIT_CODE, type Options } from './options.ts'
import { peersDigest } from './peers-digest.ts'
import { comparisonTable } from './table.ts'
import { judge, verdictOf } from './verdict.ts'

/** @throws Error that names the file, if it is missing or holds no result of this version */
async function readDigest(file: string): Promise<Digest> {
  const result = await readHeader(file)
  try {
    return result.what === PEERS ? peersDigest(asPeersResult(file, result)) : digestOf(asResult(file, result))
  } catch (error) {
    // The rest of a result is not checked, so a field that is missing shows here.
    if (error instanceof TypeError)
      throw new Error(`${file} is damaged, because it lacks a part of a result: ${error.message}`, { cause: error })
    throw error
  }
}

async function compare({ files, failIfWorse }: Options): Promise<number> {
  const [older, newer] = [await readDigest(files[0]), await readDigest(files[1])]
  if (older.what !== newer.what)
    throw new Error('one of the results is of npm run bench -- peers, and the other is not')
  process.stdout.write(comparisonTable(older, newer))
  if (failIfWorse === undefined) return 0
  const { isWorse, sentences } = verdictOf(judge(older, newer, failIfWorse), failIfWorse)
  process.stdout.write(['', ...sentences].map(line => `${line}\n`).join(''))
  return isWorse ? WORSE_EXIT_CODE : 0
}

await runProgram({ command: 'npm run bench -- compare', help, parse: parseOptions, run: compare })
