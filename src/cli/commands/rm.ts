// `zkwire rm`.
import type { Client } from '../../client/index.ts'
import { serverPath } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { command } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { wholeNumberOf } from '../runner/values.ts'

export const rm = command({
  name: 'rm',
  summary: 'deletes nodes',
  arguments: [{ name: 'PATH', kind: 'path', isRepeated: true, help: 'the nodes' }],
  options: {
    recursive: { type: 'boolean', short: 'r', help: 'also deletes all nodes below; never / or /zookeeper' },
    force: { type: 'boolean', short: 'f', help: 'is no error if there is no such node' },
    version: { type: 'string', short: 'v', value: 'N', help: 'refuses if the node has another version' },
  },
  hasJson: false,
  examples: ['zkwire rm /app/colour', 'zkwire rm -r /app'],
  async run({ all, values, client, signal }) {
    const version = wholeNumberOf('version', values.version, 0) ?? -1
    if (values.recursive && version !== -1) throw new UsageError('--version and --recursive exclude each other')
    const zk = await client()
    const paths = all('PATH')
    // All are checked before the first is deleted.
    if (values.recursive) for (const path of paths) refuseSystem(zk, path)
    for (const path of paths) await remove(zk, path)

    async function remove(zk: Client, path: string): Promise<void> {
      try {
        // deleteRecursive() does nothing if there is no node, which is an error here.
        if (values.recursive && !values.force) await zk.retry(() => zk.getChildren(path, { signal }), { signal })
        if (values.recursive) await zk.deleteRecursive(path, { signal })
        else await zk.delete(path, { version, signal })
      } catch (error) {
        if (!values.force || !isCode(error, 'NONODE')) throw error
      }
    }
  },
})

/** @throws UsageError for a path that contains everything, or what the server itself needs */
function refuseSystem(zk: Client, path: string): void {
  const full = serverPath(zk, path)
  if (path === '/' || /^\/(zookeeper(\/.*)?)?$/.test(full))
    throw new UsageError(`rm -r does not delete ${escaped(full)}: name the nodes below it, or use rm without -r`)
}
