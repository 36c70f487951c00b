// The suite in workerd: a POST has a place as its body, and the way of the bytes as its path.
import { cloudflare } from '../../src/transport/cloudflare.ts'
import { run, type Place, type Ways } from './suite.ts'

/** The runtime itself knows whom to believe, and says no more of others than that it could not connect. */
const ways: Record<string, Ways> = {
  '/node-net': { secure: { tls: true } },
  '/cloudflare-sockets': {
    plain: { dial: cloudflare() },
    secure: { dial: cloudflare({ tls: true }) },
    disbelief: 'CONNECTTIMEOUT',
  },
}

export default {
  async fetch(request: Request): Promise<Response> {
    const place = (await request.json()) as Place
    return Response.json(await run(place, ways[new URL(request.url).pathname]))
  },
}
