// `zkwire playground`.
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { untilAborted } from '../../runtime/abort.ts'
import { hostPortOf } from '../../runtime/host-port.ts'
import { command } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { portOf } from '../runner/values.ts'

/** The page, which `npm run build` writes. The path is the same from the sources as from the package. */
const PAGE = new URL('../../../dist/playground.html', import.meta.url)

/** The port unless the user gives another one. */
export const PLAYGROUND_PORT = 8181

export const playground = command({
  name: 'playground',
  summary: 'serves the playground, a page with lessons in which client and server run, until Ctrl-C',
  details: [
    'Prints the address of the page, and listens on loopback. The page is one file, which loads no other. All that ' +
      'happens in it happens in the browser.',
  ],
  arguments: [],
  options: {
    port: {
      type: 'string',
      short: 'p',
      value: 'PORT',
      help: `the port; default ${PLAYGROUND_PORT}, and 0 is any free one`,
    },
    host: { type: 'string', value: 'ADDRESS', help: 'the address to listen on; default 127.0.0.1' },
  },
  examples: ['zkwire playground', 'zkwire playground --port 0'],
  connects: false,
  async run({ values, out, signal }) {
    const port = portOf(values.port) ?? PLAYGROUND_PORT
    const server = await listen(await pageText(), port, values.host ?? '127.0.0.1')
    try {
      const { address, port: bound } = server.address() as AddressInfo
      const url = `http://${hostPortOf({ host: address, port: bound })}/`
      await out.show({ url }, () => url)
      return await untilAborted(new Promise<never>(() => undefined), signal)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
})

async function pageText(): Promise<Buffer> {
  try {
    return await readFile(PAGE)
  } catch (error) {
    const why = (error as { code?: string }).code ?? 'unknown'
    throw new CommandError(statuses.refused, `cannot read the page (${why}): \`npm run build\` writes it`)
  }
}

/** Serves the page at `/`, and nothing else. */
async function listen(page: Buffer, port: number, host: string): Promise<Server> {
  const server = createServer(({ method, url }, response) => {
    const isPage = url === '/' && (method === 'GET' || method === 'HEAD')
    response.writeHead(isPage ? 200 : 404, {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'text/plain',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    })
    response.end(isPage && method === 'GET' ? page : undefined)
  })
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) => reject(new CommandError(statuses.refused, message)))
    server.listen(port, host, () => resolve(server))
  })
}
