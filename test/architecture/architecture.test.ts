// The rules of the architecture, as tests: allowed imports, ambient dependencies, and those of the package.
import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { siteTools } from '../../environment/needs.ts'
import { needsOf, suites } from '../../environment/suites.ts'
import { type Need, ambientUses, withoutComments } from './ambient.ts'
import {
  cycles,
  foldersOf,
  importGraphOf,
  importRulesOf,
  importsOf,
  unusedRules,
  valueImportsOf,
  wrongImports,
} from './imports.ts'

/**
 * The only files that may use time, randomness, sockets or hashes directly. All other files get them from their caller.
 */
const ADAPTERS: Readonly<Record<string, Need>> = {
  'cli/commands/playground.ts': 'sockets', // serves a page to browsers
  'cli/trace/proxy.ts': 'sockets', // forwards bytes between any client and its server
  'cli/diagnosis/servers.ts': 'sockets', // whether a host is an address
  'opentelemetry/spans.ts': 'time', // when what has ended began, by the clock of OpenTelemetry
  'runtime/clock.ts': 'time',
  'runtime/globals.d.ts': 'sockets', // the type of the options of node:tls
  'runtime/hash.ts': 'hashes',
  'runtime/random.ts': 'randomness',
  'testing/virtual-clock.ts': 'time', // to wait until no microtask is left
  'transport/cloudflare.ts': 'sockets',
  'transport/listen.ts': 'sockets',
  'transport/srv.ts': 'sockets',
  'transport/tcp.ts': 'sockets',
  'transport/tls.ts': 'sockets',
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The TypeScript files of a folder, by their paths from the root of the repository. */
const sourcesIn = (folder: string): [path: string, text: string][] =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
    .map(path => [`${folder}/${path}`, readFileSync(`${root}${folder}/${path}`, 'utf8')])

const sources = new Map(
  readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts'))
    .map(path => [path, readFileSync(`${root}src/${path}`, 'utf8')]),
)

describe('in the architecture,', () => {
  describe('imports', () => {
    const graph = importGraphOf(sources)
    const rules = importRulesOf(sources)

    it('are all allowed by the rule of their folder, and none is a package', () => {
      expect(wrongImports(graph, rules)).to.deep.equal([])
    })

    it('use every permission of the rules', () => expect(unusedRules(graph, rules)).to.deep.equal([]))

    it('form no cycles between files, unless they import only types of their own folder', () => {
      expect(cycles(importGraphOf(sources, valueImportsOf))).to.deep.equal([])
    })

    it('form no cycles between folders, even with type imports included', () => {
      expect(cycles(foldersOf(rules))).to.deep.equal([])
    })

    it('of built-in modules occur only in the listed files', () => {
      const isOfRuntime = (imported: string) => /^(node|cloudflare):/.test(imported)
      const users = [...graph]
        .filter(([file]) => !/^(server|cli)\//.test(file))
        .flatMap(([file, imports]) => imports.filter(isOfRuntime).map(imported => `${imported} ${file}`))
      expect(users).to.have.members([
        'cloudflare:sockets transport/cloudflare.ts',
        'node:async_hooks recipes/locks/async-owner.ts',
        'node:crypto runtime/hash.ts',
        'node:diagnostics_channel opentelemetry/instrument.ts',
        'node:diagnostics_channel recipes/locks/acquiring.ts',
        'node:diagnostics_channel session/diagnostics.ts',
        'node:dns transport/tcp.ts', // host names
        'node:dns transport/srv.ts', // SRV records
        'node:events transport/listen.ts',
        'node:net transport/listen.ts', // for the embedded server
        'node:net transport/tcp.ts', // for clients
        'node:util client/node.ts', // debuglog
        'node:tls runtime/globals.d.ts',
        'node:tls transport/listen.ts', // for the embedded server
        'node:tls transport/tls.ts', // for clients
      ])
    })

    it('are as the headers say: “Only this file imports …”', () => {
      const usersOf = (module: string) => [...graph].filter(([, imports]) => imports.includes(module))
      const said = [...sources].flatMap(([file, text]) =>
        [...text.matchAll(/^\/\/.*\bOnly this file\b.*$/gim)].map(([sentence]) => {
          const [, module] = /Only this file imports (\S+)\.$/.exec(sentence) ?? []
          const others =
            module === undefined ? ['not a sentence that a test reads'] : usersOf(module).map(([user]) => user)
          return { file, others: others.filter(user => user !== file) }
        }),
      )
      expect(said.map(({ file }) => file)).to.have.members(['runtime/hash.ts', 'transport/cloudflare.ts'])
      expect(said.filter(({ others }) => others.length > 0)).to.deep.equal([])
    })

    it('are found in every syntax', () => {
      const text = `
        import a from './a.ts'
        import type { b } from '../x/b.ts'
        import { type c } from './c.ts'
        import './d.ts'
        export * from './e.ts'
        export type { f } from './f.ts'
        const g = await import('./g.ts')
        type H = import('./h.ts').H
        import { connect } from 'node:net'
        // import './not.ts'`
      expect(importsOf('y/z.ts', text)).to.have.members(
        ['y/a.ts', 'x/b.ts', 'y/c.ts', 'y/d.ts', 'y/e.ts', 'y/f.ts', 'y/g.ts', 'y/h.ts'].concat('node:net'),
      )
      // JavaScript keeps the module of `import { type c }`, because it may have effects. The type import('./h.ts') counts
      // too, because nothing in src needs it.
      expect(valueImportsOf('y/z.ts', text)).to.have.members(
        ['y/a.ts', 'y/c.ts', 'y/d.ts', 'y/e.ts', 'y/g.ts', 'y/h.ts'].concat('node:net'),
      )
    })

    it('are reported if the folder does not allow them, the file does not exist, or they name a package', () => {
      const rules = new Map([
        ['.', ['recipes', 'session']],
        ['recipes', ['session/client.ts']],
        ['session', ['protocol']],
        ['server', ['transport', 'protocol']],
        ['transport', []],
        ['protocol', []],
      ])
      const graph = new Map([
        ['index.ts', ['recipes/lock.ts', 'server/server.ts']],
        ['recipes/lock.ts', ['session/client.ts', 'session/states.ts', 'recipes/order.ts']],
        ['recipes/order.ts', []],
        ['session/client.ts', ['protocol/frames.ts', 'recipes/lock.ts', 'node:util']],
        ['session/states.ts', []],
        ['server/server.ts', ['transport/pipe.ts', 'protocol/gone.ts']],
        ['transport/pipe.ts', ['left-pad']],
        ['protocol/frames.ts', ['transport/pipe.ts']],
      ])
      expect(wrongImports(graph, rules)).to.deep.equal([
        'index.ts imports server/server.ts: . may not import it',
        'recipes/lock.ts imports session/states.ts: recipes may not import it',
        'session/client.ts imports recipes/lock.ts: session may not import it',
        'server/server.ts imports protocol/gone.ts: there is no such file',
        'transport/pipe.ts imports left-pad: a runtime dependency',
        'protocol/frames.ts imports transport/pipe.ts: protocol may not import it',
      ])
      expect(unusedRules(graph, rules)).to.deep.equal(['. imports no session'])
    })

    it('are listed in exactly one line “May import” of each folder', () => {
      const rule = (text: string) => `// A room.\n// May import: ${text}.\n`
      expect(importRulesOf(new Map([['a/b.ts', rule('c, d/e.ts')]])).get('a')).to.deep.equal(['c', 'd/e.ts'])
      expect(importRulesOf(new Map([['a/b.ts', rule('nothing')]])).get('a')).to.deep.equal([])
      expect(() => importRulesOf(new Map([['a/b.ts', '// A room.']]))).to.throw('a has no line')
      expect(() => importRulesOf(new Map(['a/b.ts', 'a/c.ts'].map(file => [file, rule('d')])))).to.throw('two lines')
      expect(importRulesOf(new Map([['a/b.ts', rule('c,\n// d/e.ts')]])).get('a')).to.deep.equal(['c', 'd/e.ts'])
    })

    it('are reported if they form a cycle, but not if they form a diamond', () => {
      const diamond = new Map([
        ['top', ['left', 'right']],
        ['left', ['bottom']],
        ['right', ['bottom']],
        ['bottom', ['node:util']],
      ])
      expect(cycles(diamond)).to.deep.equal([])
      expect(cycles(new Map([...diamond, ['bottom', ['right']]]))).to.deep.equal(['bottom > right > bottom'])
      expect(cycles(new Map([['self', ['self']]]))).to.deep.equal(['self > self'])
    })
  })

  describe('imports outside src', () => {
    for (const folder of ['bench', 'environment', 'site'])
      describe(`of ${folder}`, () => {
        const files = new Map(sourcesIn(folder))
        const elsewhere = ['src', 'bench', 'environment', 'site']
          .filter(other => other !== folder)
          .flatMap(other => sourcesIn(other))
          .map(([path]) => [path, []] as const)
        const graph = new Map([...elsewhere, ...importGraphOf(files)])
        const rules = importRulesOf(files)

        it('are all allowed by the rule of their folder, whose paths start at the root of the repository', () => {
          expect(wrongImports(graph, rules)).to.deep.equal([])
        })

        it('use every permission', () => expect(unusedRules(graph, rules)).to.deep.equal([]))

        it('form no cycles between files, unless they import only types', () => {
          expect(cycles(importGraphOf(files, valueImportsOf))).to.deep.equal([])
        })
      })

    it('are restricted to the listed packages', () => {
      const planted = new Map([['bench/a.ts', ['esbuild', 'left-pad']]])
      const refused = ['bench/a.ts imports left-pad: a runtime dependency']
      expect(wrongImports(planted, new Map([['bench', ['esbuild']]]))).to.deep.equal(refused)
    })
  })

  describe('files', () => {
    it('have no vague names: utils, helpers, types, Base', () => {
      const isVague = (name: string) => /^(utils?|helpers?|types?|misc|common)(\.|$)|^[Bb]ase([-_.A-Z]|$)/.test(name)
      expect(['utils.ts', 'types', 'Base.ts', 'BaseLock.ts', 'base-lock.ts'].every(isVague)).to.equal(true)
      expect(['base64.ts', 'typeset.ts'].some(isVague)).to.equal(false)
      expect([...sources.keys()].filter(path => path.split('/').some(isVague))).to.deep.equal([])
    })

    it('have no comment in which requests go, answers come or watches hear: rule 3 of CONTRIBUTING.md', () => {
      const actors = 'requests?|answers?|replies|reply|frames?|events?|messages?|loops?|listeners?|watch|watches'
      const verbs = 'go|goes|went|come|comes|came|(?:has|have|had|may have) (?:come|gone)'
      const metaphor = new RegExp(
        `(?://|\\*).*(?:\\b(?:${actors}) (?:that )?(?:${verbs})\\b|\\b(?:hears?|heard)\\b)`,
        'i',
      )
      expect(metaphor.test('/** The request goes to the leader. */') && metaphor.test('// It heard of it.')).to.equal(
        true,
      )
      expect(metaphor.test('const goes = 1 // The watch is set.')).to.equal(false)
      const said = [...sources].flatMap(([path, text]) =>
        text
          .split('\n')
          .filter(line => metaphor.test(line))
          .map(line => `${path}: ${line}`),
      )
      expect(said).to.deep.equal([])
    })

    it('of tests are found in nested folders too, by every mocha configuration', () => {
      const configurations = [
        '.mocharc.json',
        ...readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
          .filter(path => path.endsWith('mocharc.json'))
          .map(path => `test/${path}`),
      ]
      const shallow = configurations.filter(path => {
        const { recursive } = JSON.parse(readFileSync(root + path, 'utf8')) as { recursive?: boolean }
        return recursive !== true
      })
      expect(shallow).to.deep.equal([])
    })
  })

  describe('the commands of CONTRIBUTING.md', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }

    it('are scripts of package.json', () => {
      const page = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
      const named = [...page.matchAll(/\bnpm (?:run ([\w:]+)|(?:test|start)\b)/g)].map(
        ([command, name]) => name ?? command.slice(4),
      )
      expect(named).to.include.members(['test', 'check', 'bench'])
      expect(named.filter(name => scripts[name] === undefined)).to.deep.equal([])
    })

    it('and of the other documents name suites that exist', () => {
      const pages = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.md'))
        .map(path => `docs/${path}`)
      const named = ['CONTRIBUTING.md', 'README.md', 'bench/README.md', ...pages].flatMap(page =>
        [...readFileSync(root + page, 'utf8').matchAll(/\bnpm run (?:suite -- |needs )([\w:]+)/g)].map(
          ([, name]) => name,
        ),
      )
      expect(named).to.include.members(['ensemble', 'interop', 'exploration'])
      expect(named.filter(name => name === undefined || needsOf(name) === undefined)).to.deep.equal([])
    })

    it('install the tools of the site before they need them, because npm ci alone does not', () => {
      const files = new Map(['src', 'test', 'bench', 'site'].flatMap(sourcesIn))
      const graph = importGraphOf(files, valueImportsOf)
      const manifest = JSON.parse(readFileSync(`${root}site/package.json`, 'utf8')) as { devDependencies: object }
      const tools = Object.keys(manifest.devDependencies).filter(name => name !== 'typescript')
      const isTool = (name: string) => tools.some(tool => name === tool || name.startsWith(`${tool}/`))
      const loaded = new Map<string, boolean>()
      const loadsTool = (file: string): boolean => {
        const known = loaded.get(file)
        if (known !== undefined) return known
        loaded.set(file, false)
        const loads = (graph.get(file) ?? []).some(each => isTool(each) || loadsTool(each))
        loaded.set(file, loads)
        return loads
      }
      const isOfWholeRepository = (command: string) => /\boxlint\b|bin\/tsc (?!-p bench)/.test(command)
      const testsOf = (tests: readonly string[]) =>
        [...files.keys()].filter(file => tests.some(folder => file.startsWith(`${folder}/`)))
      const suitesThatLoad = Object.entries(suites).filter(([, { file, tests }]) =>
        (tests === undefined ? [file] : testsOf(tests)).some(loadsTool),
      )
      expect(suitesThatLoad.map(([name]) => name)).to.include.members(['site'])
      const undeclared = suitesThatLoad.filter(([, { needs }]) => !needs.includes(siteTools))
      expect(undeclared.map(([name]) => name)).to.deep.equal([])
      const needsTools = (command: string): boolean => {
        const [, program = ''] = /--import tsx (\S+)/.exec(command) ?? []
        return isOfWholeRepository(command) || loadsTool(program)
      }
      const needing = Object.entries(scripts).filter(([, command]) => needsTools(command))
      expect(needing.map(([name]) => name)).to.include.members(['check', 'lint', 'site'])
      const late = needing.filter(([, command]) => !command.includes('npm run --silent site:install '))
      expect(late.map(([name]) => name)).to.deep.equal([])
      // Whoever only builds the package installs nothing else: the job of release.yml that packs it runs no script of them.
      expect(needing.map(([name]) => name)).not.to.include.members(['build'])
      expect(scripts['build']).not.to.include('site:install')
    })
  })

  describe('time, randomness, sockets, hashes and code from strings', () => {
    it('are used directly only in the adapters', () => {
      const uses = [...sources].flatMap(([path, text]) => ambientUses(text).map(use => ({ path, ...use })))
      const strays = uses.filter(({ path, need }) => ADAPTERS[path] !== need)
      expect(strays.map(({ path, description }) => `${path}: ${description}`)).to.deep.equal([])
    })

    it('are used by every adapter that is listed for them', () => {
      const idle = Object.entries(ADAPTERS).filter(
        ([path, need]) => !ambientUses(sources.get(path) ?? '').some(use => use.need === need),
      )
      expect(idle).to.deep.equal([])
    })

    it('are found in every syntax', () => {
      const taken: [string, Need][] = [
        ['const t = Date.now()', 'time'],
        ['const t = new Date()', 'time'],
        ['const t = new globalThis.Date()', 'time'],
        ['const t = performance.now()', 'time'],
        ['setTimeout(f, 1)', 'time'],
        ['globalThis.setInterval(f, 1)', 'time'],
        ['const clock = { setTimeout }', 'time'],
        ['const later = setTimeout', 'time'],
        ['call(f, AbortSignal.timeout(5))', 'time'],
        ["import { setTimeout } from 'node:timers/promises'", 'time'],
        ['const x = Math.random()', 'randomness'],
        ["import { randomUUID as id } from 'node:crypto'", 'randomness'],
        ["import net from 'node:net'", 'sockets'],
        ["import type { TLSSocket } from 'node:tls'", 'sockets'],
        ["const net = await import('node:net')", 'sockets'],
        ["import { createHash } from 'node:crypto'", 'hashes'],
        ["eval('1')", 'code from strings'],
        ["new Function('return 1')", 'code from strings'],
      ]
      for (const [text, need] of taken) expect(ambientUses(text)[0]?.need, text).to.equal(need)
      const innocent = `
        // Date.now() and setTimeout() are for clock.ts
        this.#clock.setTimeout(() => f(), clock.now())
        interface Clock { setTimeout(f: () => void, ms: number): unknown; performance: number }
        const clock = { setTimeout: (f: Function) => f, Date: 1 } as { when: Date }
        let timer: ReturnType<typeof setTimeout>
        const text = 'node:net' + new Date(wall)`
      expect(ambientUses(innocent)).to.deep.equal([])
    })
  })

  it('an option accepts undefined, so that a caller can pass on an option that it may not have', () => {
    const rigid = (text: string) =>
      [...text.matchAll(/interface (SignalOption|\w*Options)\b[^{]*\{([^]*?)\n\}/g)].flatMap(([, name, body = '']) =>
        [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?: (?!.*undefined$)(?!unknown$).*$/gm)].map(
          ([, option]) => `${name}.${option}`,
        ),
      )
    expect(rigid('interface AOptions extends B {\n  a?: number\n  b?: C | undefined\n}')).to.deep.equal(['AOptions.a'])
    expect([...sources.values()].flatMap(rigid)).to.deep.equal([])
  })

  it('src/protocol is synchronous', () => {
    const asynchronous = (text: string) => /\b(Promise|async|await)\b/.exec(withoutComments(text))?.[0]
    expect(asynchronous('const f = async () => {}')).to.equal('async')
    expect(asynchronous('// no Promise\n/** never async */ const x = 1')).to.equal(undefined)
    const found = [...sources].flatMap(([path, text]) => {
      const word = path.startsWith('protocol/') ? asynchronous(text) : undefined
      return word === undefined ? [] : `${path}: ${word}`
    })
    expect(found).to.deep.equal([])
  })

  describe('the package', () => {
    it('depends on nothing at runtime, except for the package that only zkwire/opentelemetry imports, and one that the caller passes', () => {
      const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Record<string, object>
      for (const kind of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies'])
        expect(manifest).not.to.have.property(kind)
      const [imported, passed] = ['@opentelemetry/api', 'kerberos']
      expect(Object.keys(manifest['peerDependencies'] ?? {})).to.deep.equal([imported, passed])
      expect(manifest['peerDependenciesMeta']).to.deep.equal({
        [imported]: { optional: true },
        [passed]: { optional: true },
      })
      const usersOf = (peer: string) =>
        [...sources].filter(([path, text]) => importsOf(path, text).includes(peer)).map(([path]) => path)
      expect(usersOf(imported)).to.have.length.above(0)
      expect(usersOf(imported).filter(path => !path.startsWith('opentelemetry/'))).to.deep.equal([])
      expect(usersOf(passed)).to.deep.equal([])
    })
  })
})
