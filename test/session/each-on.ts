// A suite of which each test has a server: one of its own in virtual time, whose time passes while the test waits, or the real one.
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import type { Site } from '../recipes/site.ts'

export class EachOn {
  #site: Site | undefined
  readonly #tidies: (() => unknown)[] = []

  /** To be called in a suite. */
  constructor(open: () => Promise<Site>) {
    beforeEach(async () => {
      this.#site = await open()
    })
    afterEach(async () => {
      for (const tidy of this.#tidies) await this.site.run(tidy)
      await this.site.close()
    })
  }

  get site(): Site {
    if (this.#site === undefined) throw new Error('it is there when a test begins')
    return this.#site
  }

  it(title: string, test: () => unknown): void {
    it(title, () => this.site.run(test))
  }

  beforeEach(prepare: () => unknown): void {
    beforeEach(() => this.site.run(prepare))
  }

  /** Before the server goes: mocha would do it behind that. */
  afterEach(tidy: () => unknown): void {
    this.#tidies.push(tidy)
  }

  open(options?: ConnectOptions): Promise<Client> {
    return connect(this.site.connectString, { ...this.site.options, ...options })
  }
}
