// The suite in workerd: a POST has a place as its body, and the way of the bytes as its path.
import { cloudflare } from '../../src/transport/cloudflare.ts'
import { run, type Place } from './suite.ts'

export default {
  async fetch(request: Request): Promise<Response> {
    const place = (await request.json()) as Place
    const options = new URL(request.url).pathname === '/cloudflare-sockets' ? { dial: cloudflare() } : {}
    return Response.json(await run(place, options))
  },
}
