// The suite on a runtime with a command line: Node, Bun, Deno. Its argument is a place; it prints the outcome, and ends by itself.
import { run, type SuiteInput } from './suite.ts'

const place = JSON.parse(process.argv[2] ?? '') as SuiteInput
console.log(JSON.stringify(await run(place)))
