// `npm run bench:forecast`: prints what locks would cost with the reader's own numbers. Measures nothing.
import { runProgram } from '../output/interrupted.ts'
import { readResult } from '../output/result.ts'
import { wrap } from '../output/table.ts'
import { forecastText } from './forecast-text.ts'
import { help, parseOptions } from './options.ts'

await runProgram('npm run bench:forecast', async () => {
  const options = parseOptions(process.argv.slice(2))
  const text = options === 'help' ? help : forecastText(await readResult(options.result), options)
  process.stdout.write(options === 'help' ? text : `${text.split('\n').map(wrap).join('\n')}\n`)
  return 0
})
