// `zkwire get`. This folder holds the commands, each in a file of its name that exports one Command. To add a command,
// write its file, and add a line to src/cli/table.ts.
// May import: cli/frame, client/index.ts, recipes/index.ts.
import { command } from '../frame/command.ts'
import { dataText, jsonData } from '../frame/text.ts'

export const get = command({
  name: 'get',
  summary: 'prints the data of a node',
  details: [
    'Data that is no UTF-8 is printed as hex, and control characters are escaped. --raw prints the bytes as they are.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node' }],
  options: {
    raw: { type: 'boolean', short: 'r', help: 'prints the bytes, and no line break after them' },
  },
  examples: ['zkwire get /app/config', 'zkwire get --raw /app/image > image.png'],
  async run(context) {
    const path = context.argument('PATH')
    const zk = await context.client()
    const { data, stat } = await zk.getData(path, { signal: context.signal })
    if (context.values.raw) return context.out.write(data ?? '')
    await context.out.show({ path, ...jsonData(data), stat }, () => dataText(data))
  },
})
