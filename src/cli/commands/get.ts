// `zkwire get`. This folder holds the commands, each in a file of its name that exports one Command. To add a command,
// write its file, and add a line to src/cli/table.ts.
// May import: cli/capture, cli/conversation, cli/diagnosis, cli/guarded, cli/judge, cli/nodes, cli/runner, cli/shell, cli/wireshark,
// cli/trace, client/index.ts, client/recipe-support.ts, protocol/index.ts, protocol/site-address.ts, recipes/index.ts,
// runtime, server/index.ts, session/servers/connect-string.ts,
// transport/transport.ts.
import type { Client } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'
import { untilAborted } from '../../runtime/abort.ts'
import { deferred } from '../../runtime/deferred.ts'
import { command } from '../runner/command.ts'
import { dataText, escaped, jsonData } from '../runner/text.ts'

export const get = command({
  name: 'get',
  summary: 'prints the data of a node',
  details: [
    'Data that is no UTF-8 is printed as hex, and control characters are escaped. --raw prints the bytes as they are.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node' }],
  options: {
    raw: { type: 'boolean', short: 'r', help: 'prints the bytes, and no line break after them' },
    watch: { type: 'boolean', short: 'w', help: 'prints the data again after each change, until Ctrl-C' },
  },
  examples: ['zkwire get /app/config', 'zkwire get --raw /app/image > image.png', 'zkwire get --watch /app/config'],
  async run(context) {
    const { values, out, err, signal } = context
    const path = context.argument('PATH')
    const print = async ({ data, stat }: Awaited<ReturnType<Client['getData']>>) => {
      if (values.raw) await out.write(data ?? '')
      else await out.show({ path, ...jsonData(data), stat }, () => dataText(data))
    }
    if (!values.watch) return print(await (await context.client()).getData(path, { signal }))
    // So that a new session prints only what has changed. With the data, because a new ensemble may have the same zxids.
    let printed: string | undefined
    await context.sessions.supervise(async (zk, ended) => {
      for (;;) {
        const changed = deferred()
        const options = { signal: ended, watch: changed.resolve }
        const node = await unlessRefused(
          zk.retry(() => zk.getData(path, options), { signal: ended }),
          'NONODE',
        )
        const state = node === undefined ? 'missing' : `${node.stat.czxid} ${node.stat.mzxid} ${String(node.data)}`
        if (state !== printed) {
          if (node !== undefined) await print(node)
          else if (out.isJson) await out.json({ path, stat: null })
          else await err.line(`zkwire get: there is no node ${escaped(path)}`)
        }
        printed = state
        // The node may have been created since.
        const isWatched =
          node !== undefined || (await zk.retry(() => zk.exists(path, options), { signal: ended })) === null
        if (isWatched) await untilAborted(changed.promise, ended)
      }
    }, signal)
  },
})
