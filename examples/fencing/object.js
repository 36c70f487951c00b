// An object in a store with conditional writes, as S3 has them: PUT with If-Match or If-None-Match.
export class FencedObject {
  #url
  #etag

  constructor(url) {
    this.#url = url
  }

  /** Writes the token into the object and reads its data. The object then has another ETag, so earlier holders cannot write. */
  async register(token) {
    for (;;) {
      const found = await fetch(this.#url)
      if (!found.ok && found.status !== 404) throw new Error(`the store answers with status ${found.status}`)
      const present = found.ok ? await found.json() : { token: '0', data: null }
      if (BigInt(present.token) > token) throw new Error(`token ${token} is late: a later holder has registered`)
      this.#etag = found.ok ? found.headers.get('etag') : undefined
      if (await this.#put({ ...present, token: String(token) })) return present.data
    }
  }

  /** @throws Error if a later holder has registered, and then nothing is written */
  async write(token, data) {
    const isWritten = await this.#put({ token: String(token), data })
    if (!isWritten) throw new Error(`token ${token} is late: a later holder has registered`)
  }

  async #put(content) {
    const condition = this.#etag === undefined ? { 'if-none-match': '*' } : { 'if-match': this.#etag }
    const { ok, status, headers } = await fetch(this.#url, {
      method: 'PUT',
      headers: condition,
      body: JSON.stringify(content),
    })
    if (ok) this.#etag = headers.get('etag')
    else if (status !== 412) throw new Error(`the store answers with status ${status}`)
    return ok
  }
}
