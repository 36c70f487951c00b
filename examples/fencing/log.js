// A file that processes of one machine share. The order of its lines decides which of them count.
import { randomUUID } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'

export class FencedLog {
  #path

  constructor(path) {
    this.#path = path
  }

  /** Call it before anything is read: lines that earlier holders add after this one do not count. Returns the data. */
  async register(token) {
    return (await this.#append({ token: String(token) })).data
  }

  /** @throws Error if a later holder has registered, and then the data does not count */
  async write(token, data) {
    await this.#append({ token: String(token), data })
  }

  async #append(entry) {
    const id = randomUUID()
    const file = await open(this.#path, 'a') // O_APPEND: each line is written whole, behind all others
    try {
      await file.write(`\n${JSON.stringify({ id, ...entry })}\n`)
      await file.datasync()
    } finally {
      await file.close()
    }
    const found = this.#fold(await readFile(this.#path, 'utf8'), id)
    if (!found.counts) throw new Error(`token ${entry.token} is late: a later holder has registered`)
    return found
  }

  #fold(text, id) {
    let highest = 0n
    let data = null
    let counts = false
    for (const line of text.split('\n')) {
      const entry = parsed(line)
      if (entry === undefined || BigInt(entry.token) < highest) continue
      highest = BigInt(entry.token)
      data = entry.data ?? data
      counts ||= entry.id === id
    }
    return { data, counts }
  }
}

/** Returns undefined for an empty line, and for one that a process left incomplete when it was killed. */
function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
