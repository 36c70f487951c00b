// What would the contract and the comparison say of a server that breaks a rule? Rules are broken here, one at a time, in place.
import { expect } from 'chai'
import fc from 'fast-check'
import { parentOf } from '../../src/protocol/index.ts'
import { ServerConnection } from '../../src/server/connection.ts'
import { Database } from '../../src/server/database.ts'
import { Server } from '../../src/server/index.ts'
import { TreeTransaction } from '../../src/server/transaction.ts'
import { Tree } from '../../src/server/tree.ts'
import { Watches } from '../../src/server/watches.ts'
import type { Address } from '../support/wire-session.ts'
import { sharedServer } from '../support/shared-server.ts'
import { hold, type Chapter } from './suite.ts'
import { acl } from './suites/acl.ts'
import { multi } from './suites/multi.ts'
import { modes, nodes } from './suites/nodes.ts'
import { watches } from './suites/watches.ts'
import { compare } from './compare.ts'
import { scenarios } from './scenario.ts'

/** Puts `broken` in the place of a method, handing it the one that was there. Returns what takes it back. */
function patch<T extends object, K extends keyof T>(prototype: T, name: K, broken: (was: T[K]) => T[K]): () => void {
  const was = prototype[name]
  prototype[name] = broken(was)
  return () => void (prototype[name] = was)
}

type Table = Watches['data']
const table = Object.getPrototypeOf(new Watches().data) as Table

interface Rule {
  broken: () => () => void
  chapter: Chapter
}

const rules: Readonly<Record<string, Rule>> = {
  'a watch is told twice': {
    chapter: watches,
    broken: () =>
      patch(
        ServerConnection.prototype,
        'notify',
        was =>
          function (this: ServerConnection, ...event) {
            was.apply(this, event)
            was.apply(this, event)
          },
      ),
  },
  'an event comes behind the answer': {
    chapter: watches,
    broken: () =>
      patch(
        ServerConnection.prototype,
        'notify',
        was =>
          function (this: ServerConnection, ...event) {
            queueMicrotask(() => was.apply(this, event))
          },
      ),
  },
  'who may not read is told': {
    chapter: watches,
    broken: () =>
      patch(
        ServerConnection.prototype,
        'notify',
        was =>
          function (this: ServerConnection, type, path) {
            was.call(this, type, path)
          },
      ),
  },
  'a one-shot watch stays': {
    chapter: watches,
    broken: () =>
      patch(
        table,
        'add',
        was =>
          function (this: Table, path, watcher, mode) {
            was.call(this, path, watcher, mode === 'once' ? 'persistent' : mode)
          },
      ),
  },
  'a deletion is told by both tables': {
    chapter: watches,
    broken: () =>
      patch(
        table,
        'trigger',
        was =>
          function (this: Table, type, path, list) {
            return was.call(this, type, path, list)
          },
      ),
  },
  'a creation is not counted by the parent': {
    chapter: nodes,
    broken: () =>
      patch(
        Tree.prototype,
        'create',
        was =>
          function (this: Tree, tx, path, what) {
            const node = was.call(this, tx, path, what)
            this.get(parentOf(path)).created--
            return node
          },
      ),
  },
  'a deletion is not the parent’s last change': {
    chapter: nodes,
    broken: () =>
      patch(
        Tree.prototype,
        'delete',
        was =>
          function (this: Tree, tx, path) {
            const parent = this.find(parentOf(path))
            const before = parent?.pzxid
            was.call(this, tx, path)
            if (parent !== undefined && before !== undefined) parent.pzxid = before
          },
      ),
  },
  'a new list counts as a change of the data': {
    chapter: nodes,
    broken: () =>
      patch(
        Tree.prototype,
        'setACL',
        was =>
          function (this: Tree, tx, path, list) {
            return Object.assign(was.call(this, tx, path, list), { mzxid: tx.zxid })
          },
      ),
  },
  'a refused multi is half done': {
    chapter: multi,
    broken: () => patch(TreeTransaction.prototype, 'rollBack', () => () => undefined),
  },
  'ephemeral nodes stay when their session is closed': {
    chapter: modes,
    broken: () => patch(Database.prototype, 'closeSession', () => () => undefined),
  },
  'a list of entries is that of its first': {
    chapter: acl,
    broken: () =>
      patch(
        Tree.prototype,
        'create',
        was =>
          function (this: Tree, tx, path, what) {
            return was.call(this, tx, path, { ...what, acl: what.acl.slice(0, 1) })
          },
      ),
  },
}

/** The rarest shows in one sequence of 63: as many as leave nothing to luck. */
const RUNS = 2000

describe('a server that breaks a rule', function () {
  this.timeout(300_000)
  let apache: Address

  before(async () => (apache = await sharedServer()))

  for (const [rule, { broken, chapter }] of Object.entries(rules))
    it(`is found out by the contract and by the comparison: ${rule}`, async () => {
      await using server = await Server.start({ tickTime: 500, minSessionTimeout: 1000, extendedTypes: true })
      const mend = broken()
      try {
        const failed: string[] = []
        for (const each of chapter.cases) await hold(server, each).catch(() => failed.push(each.title))
        expect(failed, 'by the contract').not.to.deep.equal([])
        const comparing = fc.asyncProperty(scenarios, steps => compare(server, apache, steps))
        const { failed: isFound, errorInstance } = await fc.check(comparing, { numRuns: RUNS, endOnFailure: true })
        expect(isFound, 'by the comparison').to.equal(true)
        expect(String(errorInstance)).to.include('They part at')
      } finally {
        mend()
      }
    })
})
