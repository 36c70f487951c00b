// `npm run bench -- join`: takes part in the run of another machine.
import { runProgram } from '../output/interrupted.ts'
import { joinHelp, parseJoin } from './options.ts'
import { takePart } from './participant.ts'

await runProgram({
  command: 'npm run bench -- join',
  help: joinHelp,
  parse: parseJoin,
  run: (options, stop) => takePart(options.meeting, options, line => process.stdout.write(`${line}\n`), stop),
})
