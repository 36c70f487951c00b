// Bugs of the embedded server’s quotas, saved state and authentication.
import type { PlantedBug } from '../planted-bug.ts'

const quotas = { file: 'src/server/quotas.ts', caughtBy: 'test/contract/contract.test.ts' }
const state = { file: 'src/server/saved-state.ts', caughtBy: 'test/server/data-file.test.ts' }
const sasl = { file: 'src/server/sasl-exchange.ts', caughtBy: 'test/server/sasl-exchange.test.ts' }
const identities = { file: 'src/server/identities.ts', caughtBy: 'test/server/sasl.test.ts' }

export const serverFeatures: readonly PlantedBug[] = [
  {
    ...quotas,
    bug: 'a quota lets one node more in than its limit',
    from: 'value + added > limit',
    to: 'value + added > limit + 1',
  },
  {
    ...quotas,
    bug: 'a quota does not count the nodes that exist when it is set',
    from: 'countAll(tree, tx, path)\n  const node',
    to: 'undefined\n  const node',
  },
  {
    ...quotas,
    bug: 'a rejected multi stays in the counts of a quota',
    from: 'node.data = data\n',
    to: '\n',
  },
  {
    ...state,
    bug: 'data that is no text is damaged in the file of a server',
    from: "isText ? { data: utf8 } : { base64: data?.toString('base64') ?? '' }",
    to: '{ data: utf8 }',
  },
  {
    ...state,
    bug: 'the sequence numbers of a restored server start again',
    from: 'counters.get(path) ?? tree.createdBelow(path)',
    to: 'tree.createdBelow(path)',
  },
  {
    ...state,
    bug: 'a restored server gives out zxids that it has used before',
    from: 'each > last ? each : last',
    to: 'each < last ? each : last',
  },
  {
    ...state,
    bug: 'null data becomes empty data in the file of a server',
    from: 'data === null ? null : Buffer.from(data)',
    to: "Buffer.from(data ?? '')",
  },
  {
    file: 'src/server/acl.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bug: 'the superuser may do only what the ACLs allow',
    from: '  identities.some(({ scheme }) => scheme === SUPER) ||\n',
    to: '',
  },
  {
    ...sasl,
    bug: 'SASL accepts any password',
    from: 'if (!isSameSecret(latin1(get(',
    to: 'if (response === undefined && !isSameSecret(latin1(get(',
  },
  {
    ...identities,
    bug: 'a server that requires SASL serves a client that has proved another identity',
    from: "!this.#all.some(({ scheme }) => scheme === 'sasl')",
    to: 'this.#all.length < 2',
  },
]
