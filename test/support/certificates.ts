// Valid and invalid certificates for tests, created by openssl in a directory that is removed when the process exits.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runAtExit } from '../../environment/at-exit.ts'

export interface Certificate {
  cert: string
  key: string
  /** A PEM file with the key and the certificate, the format of ZooKeeper's key stores of type PEM. */
  file: string
}

const run = promisify(execFile)

export class CertificateAuthority {
  readonly directory: string
  readonly #name: string
  readonly #cancelAtExit: () => void
  #cert = ''

  private constructor(directory: string, name: string) {
    this.directory = directory
    this.#name = name
    this.#cancelAtExit = runAtExit(() => rmSync(directory, { recursive: true, force: true }))
  }

  static async start(name: string): Promise<CertificateAuthority> {
    const ca = new CertificateAuthority(await mkdtemp(join(tmpdir(), 'certificates-')), name)
    await ca.#openssl(
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      ca.#path('ca.key'),
      '-out',
      ca.file,
      '-subj',
      `/CN=${name}`,
    )
    ca.#cert = await readFile(ca.file, 'utf8')
    return ca
  }

  get cert(): string {
    return this.#cert
  }

  /** A PEM file with the authority's certificate, the format of ZooKeeper's trust stores of type PEM. */
  get file(): string {
    return this.#path('ca.pem')
  }

  /**
   * @param names subjectAltName in openssl's syntax: 'DNS:localhost,IP:127.0.0.1'
   * @param days validity in days; a negative number creates an expired certificate
   */
  async issue(name: string, names: string, days = 2): Promise<Certificate> {
    const [keyFile, request, extensions, certFile, file] = ['key', 'csr', 'ext', 'crt', 'pem'].map(ending =>
      this.#path(`${name}.${ending}`),
    ) as [string, string, string, string, string]
    await writeFile(extensions, `subjectAltName=${names}\n`)
    await this.#openssl('req', ...NEW_KEY, '-keyout', keyFile, '-out', request, '-subj', `/CN=${name}`)
    const from = ['-CA', this.file, '-CAkey', this.#path('ca.key'), '-CAcreateserial']
    const to = ['-in', request, '-out', certFile, '-extfile', extensions, '-days', String(days)]
    await this.#openssl('x509', '-req', ...from, ...to)
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
    await writeFile(file, key + cert)
    return { cert, key, file }
  }

  async close(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true })
    this.#cancelAtExit()
  }

  #path(name: string): string {
    return join(this.directory, name)
  }

  async #openssl(...args: string[]): Promise<void> {
    await run('openssl', args).catch((error: unknown) => {
      throw new Error(`openssl could not create the certificates of ${this.#name}: ${(error as Error).message}`)
    })
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
