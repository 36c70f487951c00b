// `zkwire set`.
import { command } from '../runner/command.ts'
import { dataOf, wholeNumberOf } from '../runner/values.ts'

export const set = command({
  name: 'set',
  summary: 'replaces the data of a node',
  arguments: [
    { name: 'PATH', kind: 'path', help: 'the node' },
    {
      name: 'DATA',
      kind: 'file',
      help: 'the text; @FILE for the bytes of a file, - for those of stdin, @@ for a text that starts with @',
    },
  ],
  options: {
    version: { type: 'string', short: 'v', value: 'N', help: 'refuses if the node has another version' },
  },
  examples: ['zkwire set /app/colour blue', 'zkwire set /app/config @config.json --version 7'],
  async run({ argument, values, client, stdin, out }) {
    const path = argument('PATH')
    const version = wholeNumberOf('version', values.version, 0) ?? -1
    const data = await dataOf(argument('DATA'), stdin)
    const zk = await client()
    const stat = await zk.setData(path, data, { version })
    if (out.isJson) await out.json({ path, stat })
  },
})
