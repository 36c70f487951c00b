// The row of docs/fencing.md in a real PostgreSQL.
import { expect } from 'chai'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { expectFencing, loadStore, type FencedStore } from '../docs/fencing-story.ts'
import { ensureInstalled } from '../../environment/debian-package.ts'
import { postgresql } from '../../environment/needs.ts'

const VERSIONS = '/usr/lib/postgresql'

/** PostgreSQL refuses to run as root, so that its own user runs it then. */
async function runner(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const id = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

describe('docs/fencing.md', () => {
  let folder: string
  let server: ChildProcess
  let db: pg.Pool

  before(async function () {
    this.timeout(120_000)
    await ensureInstalled(postgresql)
    const [version = ''] = await readdir(VERSIONS)
    const program = (name: string) => join(VERSIONS, version, 'bin', name)
    const user = await runner()
    folder = await mkdtemp(join(tmpdir(), 'zkwire-postgres-'))
    if (user.uid !== undefined) await chown(folder, user.uid, user.gid as number)
    const data = join(folder, 'data')
    await promisify(execFile)(program('initdb'), ['-D', data, '-U', 'tests', '--auth', 'trust', '--no-sync'], user)
    // Only a socket in the folder, no port.
    server = spawn(program('postgres'), ['-D', data, '-k', folder, '-h', ''], { ...user, stdio: 'ignore' })
    db = new pg.Pool({ host: folder, user: 'tests', database: 'postgres' })
    while (
      !(await db.query('select 1').then(
        () => true,
        () => false,
      ))
    ) {
      expect(server.exitCode, 'PostgreSQL ended').to.equal(null)
      await pause(50)
    }
    await db.query('create table jobs (id text primary key, token bigint not null default 0, data text)')
    await db.query("insert into jobs (id) values ('report')")
  })
  after(async () => {
    await db.end()
    const ended = once(server, 'exit')
    server.kill('SIGQUIT')
    await ended
    await rm(folder, { recursive: true })
  })

  it('a row of PostgreSQL refuses the write of a former holder', async () => {
    const FencedRow = await loadStore<new (db: pg.Pool, id: string) => FencedStore>('row.js', 'FencedRow')
    await expectFencing(() => new FencedRow(db, 'report'))
  })
})
