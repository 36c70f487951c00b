// Runs the suite in workerd. The body of a POST is the suite's input, and its path selects the transport.
import { cloudflare } from '../../src/transport/cloudflare.ts'
import { run, type SuiteInput, type SuiteOptions } from './suite.ts'

/** workerd itself checks certificates. For an untrusted one it only reports that it could not connect. */
const optionsByPath: Record<string, SuiteOptions> = {
  '/node-net': { secure: { tls: true } },
  '/cloudflare-sockets': {
    plain: { dial: cloudflare() },
    secure: { dial: cloudflare({ tls: true }) },
    untrustedCode: 'CONNECTTIMEOUT',
  },
}

export default {
  async fetch(request: Request): Promise<Response> {
    const input = (await request.json()) as SuiteInput
    return Response.json(await run(input, optionsByPath[new URL(request.url).pathname]))
  },
}
