// `npm run bench -- join`: takes part in the run of another machine.
import { runProgram } from '../output/interrupted.ts'
import { joinHelp, parseJoin } from './options.ts'
import { takePart } from './participant.ts'

await runProgram('npm run bench -- join', async stop => {
  const options = parseJoin(process.argv.slice(2))
  if (options === 'help') process.stdout.write(joinHelp)
  else await takePart(options.meeting, options, line => process.stdout.write(`${line}\n`), stop)
  return 0
})
