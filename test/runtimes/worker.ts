// Runs the suite in workerd. The body of a POST is the suite's input, and its path selects the transport and the entry
// point whose connect() is used.
import * as workers from '../../src/client/cloudflare.ts'
import { connect, supervise } from '../../src/index.ts'
import { run, type SuiteInput, type SuiteOptions } from './suite.ts'

/** workerd itself checks certificates. For an untrusted one, cloudflare:sockets only reports that it could not connect. */
const untrustedCode = 'CONNECTTIMEOUT'

const optionsByPath: Record<string, SuiteOptions> = {
  '/node-net': { connectTls: (servers, options) => connect(servers, { ...options, tls: true }) },
  '/cloudflare-sockets': {
    connect: workers.connect,
    connectTls: (servers, options) => workers.connect(servers, { ...options, tls: true }),
    supervise: workers.supervise,
    untrustedCode,
  },
  '/cloudflare-dial': {
    connect: (servers, options) => connect(servers, { ...options, dial: workers.cloudflare() }),
    connectTls: (servers, options) => connect(servers, { ...options, dial: workers.cloudflare({ tls: true }) }),
    supervise: (servers, options, task) => supervise(servers, { ...options, dial: workers.cloudflare() }, task),
    untrustedCode,
  },
}

export default {
  async fetch(request: Request): Promise<Response> {
    const input = (await request.json()) as SuiteInput
    return Response.json(await run(input, optionsByPath[new URL(request.url).pathname]))
  },
}
