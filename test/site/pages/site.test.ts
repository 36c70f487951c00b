import { expect } from 'chai'
import { deadLinks } from '../../../site/checks/links.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { guides, leftOut } from '../../../site/pages/contents.ts'
import { sectionsOf } from '../../../site/pages/document.ts'
import { storyOf } from '../../../site/world/story-link.ts'
import * as zkwire from '../../../src/index.ts'
import * as recipes from '../../../src/recipes/index.ts'
import * as server from '../../../src/server/index.ts'
import { readDocument } from '../../support/document.ts'
import type { Site } from '../../../site/pages/build.ts'
import { builtSite } from './built-site.ts'

describe('the site', () => {
  let site: Site
  const page = (path: string): string => {
    const content = site.get(path)
    return typeof content === 'string' ? content : expect.fail(`there is no ${path}`)
  }
  const pages = () => [...site.keys()].filter(path => path.endsWith('.html'))

  before(async function () {
    this.timeout(300_000)
    site = await builtSite()
  })

  it('has a page for each guide, in the menu of every page', () => {
    for (const { name, title } of guides) {
      expect(page(`${name}.html`)).to.include('<h1')
      expect(page('api/zkwire/connect.html')).to.match(new RegExp(`<a href="../../${name}.html">\\s*${title}\\s*</a>`))
    }
  })

  it('has each section of the README on a page, unless it is for readers of the repository', () => {
    const taken = guides.filter(({ document }) => document === 'README.md').flatMap(({ sections = [] }) => sections)
    const all = sectionsOf(readDocument('README.md')).map(({ heading }) => heading)
    expect([...taken, ...leftOut]).to.have.members(all)
  })

  it('has a page for each public name', () => {
    for (const [folder, names] of Object.entries({ zkwire, 'zkwire-recipes': recipes, 'zkwire-server': server }))
      for (const name of Object.keys(names)) {
        expect(page(`api/${folder}/${name}.html`), name).to.include(name)
      }
  })

  it('says of each member of a public name what it is, and of each field of a record', () => {
    // The text about a class also tells what its constructor is for.
    const isConstructor = (member: string) => /<code>new /.test(member)
    // Their entries have the names of zookeeper.jute and of ZooDefs, their fields, and examples.
    const ofZooKeeper = ['api/zkwire-protocol/operations.html', 'api/zkwire-protocol/records.html']
    const silent = pages()
      .filter(path => path.startsWith('api/') && !path.endsWith('index.html') && !ofZooKeeper.includes(path))
      .flatMap(path =>
        page(path)
          .split('<section class="member">')
          .slice(1)
          .filter(member => !/<p>|<dl class="facts">/.test(member) && !isConstructor(member))
          .map(member => `${path}: ${/id="([^"]+)"/.exec(member)?.[1]}`),
      )
    expect(silent).to.deep.equal([])
    expect(page('api/zkwire/Stat.html')).to.contain('The metadata of a node.').and.not.to.contain('const { layout }')
    for (const field of ['czxid', 'ephemeralOwner', 'pzxid'])
      expect(page('api/zkwire/Stat.html')).to.contain(`<h2 id="${field}">`)
  })

  it('has no link that leads nowhere, and no resource of another site', () => {
    expect(deadLinks(site, path => path === 'playground.html')).to.deep.equal([])
  })

  it('has valid HTML on every page', async function () {
    this.timeout(120_000)
    const invalid: string[] = []
    for (const path of pages().filter(path => path !== 'playground.html'))
      invalid.push(...(await invalidHtml(page(path))).slice(0, 3).map(problem => `${path}: ${problem}`))
    expect(invalid).to.deep.equal([])
  })

  it('leads from the guides to the playground, and back', () => {
    for (const name of ['start', 'herd'])
      expect(page(`${name}.html`), name)
        .to.contain('<a href="playground.html">Open it</a>')
        .and.not.to.contain('npx zkwire playground')
    expect(page('playground.html')).to.contain('data-home="index.html"')
  })

  it('links each recorded release of a lock into the playground, as a story in which its holder releases it', () => {
    const links = [...page('report.html').matchAll(/href="playground\.html#([^"]+)"/g)].map(([, link = '']) =>
      storyOf(link),
    )
    expect(links.map(({ scenario }) => `${scenario.recipe} of ${scenario.clients}`)).to.deep.equal([
      'ephemeral-mutex of 12',
      'herd-mutex of 12',
      'mutex-without-look-ahead of 12',
      'mutex of 12',
      'ticket-mutex of 12',
    ])
    for (const { commands } of links)
      expect(commands.map(command => command.do)).to.deep.equal([{ kind: 'release', client: 1 }])
  })

  it('is small: a page of the guides needs less than 200 kB, before it is compressed, until the reader searches', () => {
    const shared = page('site.css').length + page('site.js').length
    for (const { name } of guides) expect(page(`${name}.html`).length + shared, name).to.be.below(200_000)
  })
})
