// The suite on a runtime with a command line: Node, Bun, Deno. Its arguments are a place's; it prints the outcome, and ends by itself.
import { run } from './suite.ts'

const [servers = '', cut = ''] = process.argv.slice(2)
console.log(JSON.stringify(await run({ servers, cut })))
