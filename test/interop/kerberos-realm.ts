// A Kerberos realm of MIT: a KDC on the loopback interface, keytabs, and tickets, all in one folder.
import { spawn, execFile, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runAtExit } from '../../environment/at-exit.ts'
import { ensureInstalled } from '../../environment/debian-package.ts'
import { freePort } from '../../environment/free-port.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { fakeTime, kerberos, kerberosModule } from '../../environment/needs.ts'
import { until } from '../../environment/until.ts'
import type { KerberosModule } from '../../src/sasl/index.ts'

export const REALM = 'ZKWIRE.TEST'
const run = promisify(execFile)

/** Installs MIT Kerberos, and the npm package `kerberos`, which is compiled here if it has no binary for this machine. */
export async function installKerberos(): Promise<KerberosModule> {
  for (const each of kerberos) await ensureInstalled(each)
  const modules = await installTools(kerberosModule)
  return createRequire(join(modules, 'index.js'))('kerberos') as KerberosModule
}

export class KerberosRealm {
  readonly directory: string
  readonly #env: Readonly<Record<string, string>>
  #kdc: ChildProcess | undefined
  #port = 0
  readonly #undo: () => void

  private constructor(directory: string) {
    this.directory = directory
    this.#env = {
      KRB5_CONFIG: this.file('krb5.conf'),
      KRB5_KDC_PROFILE: this.file('kdc.conf'),
      KRB5CCNAME: `FILE:${this.file('tickets')}`,
    }
    const before = Object.keys(this.#env).map(name => [name, process.env[name]] as const)
    // The package kerberos reads them in this process.
    Object.assign(process.env, this.#env)
    this.#undo = () => {
      for (const [name, value] of before)
        if (value === undefined) Reflect.deleteProperty(process.env, name)
        else process.env[name] = value
    }
  }

  static async start(): Promise<KerberosRealm> {
    const realm = new KerberosRealm(await mkdtemp(join(tmpdir(), 'kerberos-')))
    const port = (realm.#port = await freePort())
    await writeFile(
      realm.file('krb5.conf'),
      `[libdefaults]
  default_realm = ${REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  kdc_timesync = 0
[realms]
  ${REALM} = {
    kdc = 127.0.0.1:${port}
  }
[domain_realm]
  localhost = ${REALM}
`,
    )
    await writeFile(
      realm.file('kdc.conf'),
      `[kdcdefaults]
  kdc_listen = 127.0.0.1:${port}
  kdc_tcp_listen = 127.0.0.1:${port}
[realms]
  ${REALM} = {
    database_name = ${realm.file('principals')}
    key_stash_file = ${realm.file('stash')}
    acl_file = ${realm.file('acl')}
  }
[logging]
  kdc = FILE:${realm.file('kdc.log')}
`,
    )
    await run('/usr/sbin/kdb5_util', ['create', '-s', '-r', REALM, '-P', 'master'], { env: realm.#env })
    await realm.startKdc()
    return realm
  }

  file(name: string): string {
    return join(this.directory, name)
  }

  /** @param ahead how many seconds the clock of the KDC is ahead */
  async startKdc(ahead = 0): Promise<void> {
    await this.stopKdc()
    const clock = ahead === 0 ? {} : { LD_PRELOAD: fakeTime() ?? '', FAKETIME: `+${ahead}s` }
    const kdc = spawn('/usr/sbin/krb5kdc', ['-n'], { env: { ...this.#env, ...clock }, stdio: 'ignore' })
    const cancelAtExit = runAtExit(() => kdc.kill('SIGKILL'))
    kdc.once('exit', cancelAtExit)
    this.#kdc = kdc
    await until(async () => {
      const socket = connect(this.#port, '127.0.0.1')
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      return isOpen
    })
  }

  async stopKdc(): Promise<void> {
    const kdc = this.#kdc
    this.#kdc = undefined
    if (kdc === undefined || kdc.exitCode !== null) return
    const ended = once(kdc, 'exit')
    kdc.kill('SIGTERM')
    await ended
  }

  /** Creates a principal, and returns its keytab. */
  async keytabOf(principal: string): Promise<string> {
    const file = this.file(`${principal.replaceAll('/', '-')}.keytab`)
    for (const query of [`addprinc -randkey ${principal}`, `ktadd -k ${file} ${principal}`])
      await this.administer(query)
    return file
  }

  async administer(query: string): Promise<void> {
    await run('/usr/sbin/kadmin.local', ['-r', REALM, '-q', query], { env: this.#env })
  }

  /** Gets a ticket, which replaces the one of this process. */
  async kinit(principal: string, keytab: string, ...options: string[]): Promise<void> {
    await run('/usr/bin/kinit', ['-k', '-t', keytab, ...options, principal], { env: this.#env })
  }

  async destroyTicket(): Promise<void> {
    await run('/usr/bin/kdestroy', ['-q'], { env: this.#env })
  }

  /** True if the ticket cache has a ticket that has not expired. */
  async hasTicket(): Promise<boolean> {
    return run('/usr/bin/klist', ['-s'], { env: this.#env }).then(
      () => true,
      () => false,
    )
  }

  async close(): Promise<void> {
    await this.stopKdc()
    this.#undo()
    await rm(this.directory, { recursive: true, force: true })
  }
}
