// Builds the whole site, as texts by their paths.
import { build as bundle } from 'esbuild'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { html, Html } from '../../bench/report/html.ts'
import { playerScript, styleOf } from '../../bench/report/page.ts'
import { reportBody, TITLE } from '../../bench/report/report.ts'
import { readResult } from '../../bench/output/result.ts'
import { noticesOf } from '../browser-runtime/notices.ts'
import type { PlaygroundFrame } from '../playground/build.ts'
import { releaseAddresses } from '../world/release-link.ts'
import { laidOutEntry } from './api/declaration.ts'
import { addressesOf, ApiPages, folderOf, type ApiPage } from './api/pages.ts'
import { readReference, type EntryPoint } from './api/reference.ts'
import { groups, guides } from './contents.ts'
import { examples } from './examples.ts'
import { openHighlighter } from './highlight.ts'
import { home } from './home.ts'
import { icon, layout, top, type MenuGroup, type Page } from './layout.ts'
import { lessonsPage } from './lessons.ts'
import { linkTable, PLAYGROUND, textOf } from './links.ts'
import { Markdown, type Linking, type Passage } from './markdown.ts'
import type { Findable } from './search-fields.ts'
import { foundInPlayground, foundInReport } from './found.ts'
import { searchIndex } from './search-index.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFile(join(root, file), 'utf8')

/** The entry points of the package: what each is for, and its source. The first that exports a name owns it. */
const ENTRY_POINTS = {
  zkwire: ['src/index.ts', 'Sessions: `connect()`, `supervise()`, the `Client` and its calls'],
  'zkwire/recipes': [
    'src/recipes/index.ts',
    'Locks, leader election, barriers, caches, shared data, groups and services',
  ],
  'zkwire/testing': ['src/testing/index.ts', 'A virtual clock for tests'],
  'zkwire/server': ['src/server/index.ts', 'A ZooKeeper in memory for tests, with faults'],
  'zkwire/sasl': ['src/sasl/index.ts', 'Authentication by SASL'],
  'zkwire/opentelemetry': ['src/opentelemetry/index.ts', 'Spans and metrics of OpenTelemetry'],
  'zkwire/protocol': ['src/protocol/entry.ts', 'Records, frames and operations, without the client'],
  'zkwire/cloudflare': ['src/client/cloudflare.ts', 'The client for Cloudflare Workers'],
} as const

const EXAMPLES = 'examples/testing'

/** The content of each file of the site, by its path. */
export type Site = ReadonlyMap<string, string | Uint8Array>

const menu: readonly MenuGroup[] = [
  ...groups.map(group => ({
    title: group.title,
    entries: [
      ...group.guides.map(({ name, title }) => ({ title, address: `${name}.html` })),
      ...(group.title === 'Learn' ? [{ title: 'Examples of tests', address: 'examples.html' }] : []),
      ...(group.title === 'Understand'
        ? [
            { title: 'Lessons', address: 'lessons.html' },
            { title: 'The report of a run', address: 'report.html' },
          ]
        : []),
    ],
  })),
  {
    title: 'Reference',
    entries: [
      { title: 'API', address: 'api/index.html' },
      ...Object.keys(ENTRY_POINTS).map(name => ({ title: name, address: `api/${folderOf(name)}/index.html` })),
    ],
  },
]

const topStyle = () => read('site/pages/top.css')

/** Returns what the page of the playground has of the site: its top, and the search. */
export const frameOfPlayground = async (): Promise<PlaygroundFrame> => ({
  home: 'index.html',
  top: String(top('')),
  style: await topStyle(),
  script: 'site.js',
})

/**
 * Returns the content of each file of the site, by its path.
 * @param playground the page of the playground
 * @throws Error if a link of a document leads nowhere, or a docstring is malformed
 */
export async function buildSite(playground: string): Promise<Site> {
  const [highlighter, reference, documents, pictures] = await Promise.all([
    openHighlighter(),
    readApi(),
    readDocuments(),
    readPictures(),
  ])
  const markdown = new Markdown(highlighter)
  const addresses = addressesOf(reference)
  const exampleFiles = await filesIn(EXAMPLES)
  const files = new Map([
    ...[...exampleFiles.keys()].map(
      name => [`${EXAMPLES}/${name}`, `examples.html#${name.replaceAll('.', '')}`] as const,
    ),
    [EXAMPLES, 'examples.html'],
    ['LICENSE', 'license.txt'],
    [PLAYGROUND, 'playground.html'],
    ...[...pictures.keys()].map(name => [`docs/${name}`, name] as const),
  ])
  const table = linkTable(documents, files)
  const linkingOf = (document: string): Linking => ({
    link: target => table.resolve(document, target),
    title: target => table.titleOf(document, target),
    api: name => addresses.get(name),
  })
  const pages: Page[] = []
  const found: Findable[] = []

  for (const guide of guides) {
    const {
      html: content,
      headings,
      passages,
    } = markdown.render(textOf(guide, documents.get(guide.document) ?? ''), linkingOf(guide.document))
    const path = `${guide.name}.html`
    pages.push({ path, title: guide.title, description: guide.about, content, headings })
    found.push(...passages.map(passage => foundBy(passage, path, guide.title)))
  }

  const homeTitle = 'zkwire: ZooKeeper for TypeScript'
  const homeDescription = 'A ZooKeeper client with locks and leader election that stay correct under faults'
  const homePage = { path: 'index.html', title: homeTitle, description: homeDescription, kind: 'home' }
  pages.push({ ...homePage, content: home(documents.get('README.md') ?? '', markdown, linkingOf('README.md')) })

  const shown = examples(exampleFiles, markdown)
  pages.push({
    ...{ path: 'examples.html', title: 'Examples of tests', description: 'Tests with a ZooKeeper in memory' },
    ...shown,
  })
  for (const { title, anchor } of shown.headings)
    found.push({ address: `examples.html#${anchor}`, title, page: 'Examples of tests', text: '' })

  const lessons = lessonsPage(markdown, linkingOf('README.md'))
  pages.push(lessons.page)
  found.push(...lessons.found)

  const report = await reportPage()
  pages.push(report)
  found.push(...foundInReport(report), ...foundInPlayground)

  const api: Linking = {
    link: target => target,
    title: () => undefined,
    api: name => {
      const address = addresses.get(name)
      return address === undefined ? undefined : `../../${address}`
    },
  }
  for (const page of apiPagesOf(reference, new ApiPages(markdown, api))) {
    pages.push({ ...page, kind: 'reference' })
    for (const { anchor, title, text } of page.passages)
      found.push({
        address: anchor === '' ? page.path : `${page.path}#${anchor}`,
        title,
        page: `API: ${page.title}`,
        text,
      })
  }
  pages.push(apiIndex(reference, markdown, linkingOf('README.md')))

  return new Map<string, string | Uint8Array>([
    ...pages.map(page => [page.path, layout(page, menu)] as const),
    ['playground.html', playground],
    ['site.css', [await styleOf('palette.css'), await read('site/pages/site.css'), await topStyle()].join('\n')],
    ['site.js', await siteScript()],
    ['search-index.js', searchIndex(found)],
    // The report's own rules apply only inside of its frame.
    ['report.css', `.report {\n${await styleOf('style.css')}\n}\n`],
    ['report.js', await playerScript()],
    ['icon.svg', icon],
    ...pictures,
    ['license.txt', await read('LICENSE')],
  ])
}

const foundBy = ({ heading, text }: Passage, path: string, page: string): Findable => ({
  address: heading.level === 1 ? path : `${path}#${heading.anchor}`,
  title: heading.title,
  page,
  text,
})

async function readApi(): Promise<EntryPoint[]> {
  const reference = await readReference(
    root,
    new Map(Object.entries(ENTRY_POINTS).map(([name, [file]]) => [name, file])),
  )
  return Promise.all(
    reference.map(async ({ name, entries }) => ({ name, entries: await Promise.all(entries.map(laidOutEntry)) })),
  )
}

async function readDocuments(): Promise<Map<string, string>> {
  const names = [...new Set(guides.map(({ document }) => document))]
  return new Map(await Promise.all(names.map(async name => [name, await read(name)] as const)))
}

async function readPictures(): Promise<Map<string, Uint8Array>> {
  const names = (await readdir(join(root, 'docs'))).filter(name => /\.(svg|webp|png)$/.test(name))
  return new Map(await Promise.all(names.map(async name => [name, await readFile(join(root, 'docs', name))] as const)))
}

async function filesIn(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(join(root, folder))).sort()
  return new Map(await Promise.all(names.map(async name => [name, await read(`${folder}/${name}`)] as const)))
}

function* apiPagesOf(reference: readonly EntryPoint[], pages: ApiPages): Generator<ApiPage> {
  for (const entryPoint of reference) {
    const about = ENTRY_POINTS[entryPoint.name as keyof typeof ENTRY_POINTS][1]
    yield pages.entryPoint(entryPoint, about)
    for (const entry of entryPoint.entries) if (entry.alsoIn === undefined) yield pages.page(entryPoint.name, entry)
  }
}

function apiIndex(reference: readonly EntryPoint[], markdown: Markdown, linking: Linking): Page {
  const within: Linking = { ...linking, api: name => linking.api(name)?.replace(/^api\//, '') }
  const rows = Object.entries(ENTRY_POINTS).map(
    ([name, [, about]]) =>
      html`<div>
        <dt>
          <a href="${folderOf(name)}/index.html"><code>${name}</code></a>
        </dt>
        <dd>
          ${markdown.renderInline(about, within)} (${reference.find(each => each.name === name)?.entries.length ?? 0}
          names)
        </dd>
      </div>`,
  )
  const content = html`<h1>API</h1>
    <p>The package has these entry points. Import a name from the one that lists it.</p>
    <p>
      A test runs each example. In the examples, <code>server</code> is an empty embedded server at
      <code>localhost:2181</code>, and <code>zk</code> and <code>other</code> are its clients. Names of the package need
      no import there. <code>// =&gt; value</code> states the value of the expression before it, and
      <code>// throws CODE</code> its error.
    </p>
    <dl class="names">${rows}</dl>`
  return { path: 'api/index.html', title: 'API', description: 'All public names', kind: 'reference', content }
}

async function reportPage(): Promise<Page> {
  const result = await readResult(join(root, 'docs/herd.json'))
  const playable = await releaseAddresses(result.recordings, 'playground.html')
  return {
    ...{ path: 'report.html', title: 'The report of a run', description: TITLE, kind: 'wide' },
    content: new Html(`<div class="report">${String(await reportBody(result, playable))}</div>`),
    ...{ styles: ['report.css'], scripts: ['report.js'] },
  }
}

async function siteScript(): Promise<string> {
  const { outputFiles, metafile } = await bundle({
    ...{ entryPoints: [join(import.meta.dirname, 'browser/site.ts')], bundle: true, minify: true, write: false },
    ...{ format: 'iife', target: 'es2022', legalComments: 'none', metafile: true, absWorkingDir: root },
  })
  const notices = await noticesOf(Object.keys(metafile.inputs), root)
  return `${outputFiles[0]?.text ?? ''}/*\n${notices.replaceAll('*/', '* /')}*/\n`
}
