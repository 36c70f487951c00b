// Checks that the contract and the comparison find a server that breaks a rule.
// Each test patches the server to break one rule.
import { expect } from 'chai'
import fc from 'fast-check'
import { parentOf } from '../../src/protocol/index.ts'
import { ServerConnection } from '../../src/server/connection/connection.ts'
import { Server } from '../../src/server/index.ts'
import { TreeTransaction } from '../../src/server/database/transaction.ts'
import { Tree } from '../../src/server/database/tree.ts'
import { behaviourOf } from '../../src/server/database/version.ts'
import { Watches } from '../../src/server/database/watches.ts'
import type { Address } from '../../environment/proxied-connection.ts'
import { sharedServer } from '../support/shared-server.ts'
import { runCase, type Suite } from './suite.ts'
import { acl } from './suites/acl.ts'
import { multi } from './suites/multi.ts'
import { modes, nodes } from './suites/nodes.ts'
import { watches } from './suites/watches.ts'
import { compare } from './compare.ts'
import { scenarios } from './scenario.ts'

/** Replaces a method, and returns a function that restores it. @param replace gets the original method */
function patch<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  replace: (original: T[K]) => T[K],
): () => void {
  const original = prototype[name]
  prototype[name] = replace(original)
  return () => void (prototype[name] = original)
}

type Table = Watches['data']
const table = Object.getPrototypeOf(new Watches(behaviourOf('3.8.0')).data) as Table

interface Rule {
  /** Patches the server, and returns a function that restores it. */
  breakIt: () => () => void
  suite: Suite
}

const rules: Readonly<Record<string, Rule>> = {
  'a watch is notified twice': {
    suite: watches,
    breakIt: () =>
      patch(
        ServerConnection.prototype,
        'notify',
        original =>
          function (this: ServerConnection, ...event) {
            original.apply(this, event)
            original.apply(this, event)
          },
      ),
  },
  'an event is sent after the reply': {
    suite: watches,
    breakIt: () =>
      patch(
        ServerConnection.prototype,
        'notify',
        original =>
          function (this: ServerConnection, ...event) {
            queueMicrotask(() => original.apply(this, event))
          },
      ),
  },
  'a client without the read permission is notified': {
    suite: watches,
    breakIt: () =>
      patch(
        ServerConnection.prototype,
        'notify',
        original =>
          function (this: ServerConnection, type, path) {
            original.call(this, type, path)
          },
      ),
  },
  'a one-shot watch stays after its event': {
    suite: watches,
    breakIt: () =>
      patch(
        table,
        'add',
        original =>
          function (this: Table, path, watcher, mode) {
            original.call(this, path, watcher, mode === 'once' ? 'persistent' : mode)
          },
      ),
  },
  'a session that watches data and children gets two events for a deletion': {
    suite: watches,
    breakIt: () =>
      patch(
        table,
        'trigger',
        original =>
          function (this: Table, type, path, list, zxid) {
            return original.call(this, type, path, list, zxid)
          },
      ),
  },
  'a creation is not counted by the parent': {
    suite: nodes,
    breakIt: () =>
      patch(
        Tree.prototype,
        'create',
        original =>
          function (this: Tree, tx, path, content) {
            const node = original.call(this, tx, path, content)
            this.get(parentOf(path)).created--
            return node
          },
      ),
  },
  'a deletion is not the parent’s last change': {
    suite: nodes,
    breakIt: () =>
      patch(
        Tree.prototype,
        'delete',
        original =>
          function (this: Tree, tx, path) {
            const parent = this.find(parentOf(path))
            const before = parent?.pzxid
            original.call(this, tx, path)
            if (parent !== undefined && before !== undefined) parent.pzxid = before
          },
      ),
  },
  'a new ACL counts as a change of the data': {
    suite: nodes,
    breakIt: () =>
      patch(
        Tree.prototype,
        'setACL',
        original =>
          function (this: Tree, tx, path, list) {
            return Object.assign(original.call(this, tx, path, list), { mzxid: tx.zxid })
          },
      ),
  },
  'a rejected multi is partly executed': {
    suite: multi,
    breakIt: () => patch(TreeTransaction.prototype, 'rollBack', () => () => undefined),
  },
  'ephemeral nodes stay when their session is closed': {
    suite: modes,
    breakIt: () => patch(Tree.prototype, 'endSession', () => () => undefined),
  },
  'only the first entry of an ACL is stored': {
    suite: acl,
    breakIt: () =>
      patch(
        Tree.prototype,
        'create',
        original =>
          function (this: Tree, tx, path, content) {
            return original.call(this, tx, path, { ...content, acl: content.acl.slice(0, 1) })
          },
      ),
  },
}

/** The rarest difference shows in one scenario of 63, so this many scenarios find each one. */
const RUNS = 2000

describe('a server that breaks a rule', function () {
  this.timeout(300_000)
  let apache: Address

  before(async () => (apache = await sharedServer()))

  for (const [rule, { breakIt, suite }] of Object.entries(rules))
    it(`fails the contract and the comparison: ${rule}`, async () => {
      await using server = await Server.start({ tickTime: 500, minSessionTimeout: 1000, extendedTypes: true })
      const restore = breakIt()
      try {
        const failed: string[] = []
        for (const each of suite.cases) await runCase(server, each).catch(() => failed.push(each.title))
        expect(failed, 'failed cases of the contract').not.to.deep.equal([])
        const comparing = fc.asyncProperty(scenarios, steps => compare(server, apache, steps))
        const { failed: isFound, errorInstance } = await fc.check(comparing, { numRuns: RUNS, endOnFailure: true })
        expect(isFound, 'the comparison found a difference').to.equal(true)
        expect(String(errorInstance)).to.include('The traces differ at')
      } finally {
        restore()
      }
    })
})
