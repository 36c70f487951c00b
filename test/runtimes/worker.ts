// The suite in workerd: a POST has a place as its body, and the way of the bytes as its path.
import { cloudflare } from '../../src/transport/cloudflare.ts'
import { run, type SuiteInput, type SuiteOptions } from './suite.ts'

/** The runtime itself knows whom to believe, and says no more of others than that it could not connect. */
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
    const place = (await request.json()) as SuiteInput
    return Response.json(await run(place, optionsByPath[new URL(request.url).pathname]))
  },
}
