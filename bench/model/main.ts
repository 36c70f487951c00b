// `npm run bench -- forecast`: says from the figures of an earlier run at which number of contenders a lock breaks, and which
// one to take. Measures nothing.
import { runProgram } from '../output/interrupted.ts'
import { readResult } from '../output/result.ts'
import { wrap } from '../output/table.ts'
import { UsageError } from '../output/usage.ts'
import { adviceOf } from './advice.ts'
import { modelOf } from './model.ts'
import { help, parseOptions, type ForecastOptions } from './options.ts'

async function forecast({ result, contenders, conditions, lock }: ForecastOptions): Promise<void> {
  const { verdict, heading, sentences } = adviceOf(modelOf(await readResult(result)), contenders, conditions, lock)
  if (verdict === undefined) throw new UsageError(`${result} has no times of ${lock} at enough sizes: measure it first`)
  process.stdout.write(`${[verdict, '', heading, ...sentences.map(each => `- ${each}`)].map(wrap).join('\n')}\n`)
}

await runProgram({ command: 'npm run bench -- forecast', help, parse: parseOptions, run: forecast })
