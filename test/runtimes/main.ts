// Runs the suite on a runtime with a command line: Node, Bun, Deno. Takes the suite's input as JSON, prints the result,
// and exits on its own.
import { run, type SuiteInput } from './suite.ts'

const input = JSON.parse(process.argv[2] ?? '') as SuiteInput
console.log(JSON.stringify(await run(input)))
