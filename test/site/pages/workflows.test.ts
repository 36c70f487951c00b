// Checks the workflows and the forms of .github, as far as this is possible without running them.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { suites } from '../../../environment/suites.ts'
import { commandsOf, readYaml, type Job, type Workflow } from '../../../site/checks/workflows.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
  engines: { node: string }
}
const workflow = (name: string) => readYaml(read(`.github/workflows/${name}.yml`)) as Workflow
const names = readdirSync(join(root, '.github/workflows')).map(file => file.replace('.yml', ''))
const allJobs = (): [name: string, job: Job][] =>
  names.flatMap(name =>
    Object.entries(workflow(name).jobs).map(([job, value]) => [`${name}: ${job}`, value] as [string, Job]),
  )

describe('the workflows', () => {
  it('run only scripts of package.json, suites, commands of npm with existing folders, and the listed others', () => {
    const others = [
      /^test "v\$\(node --print /,
      /^npm pkg set "repository\.url=/,
      /^npm pack$/,
      /^npm publish .* --ignore-scripts --provenance --access public$/,
    ]
    const wrong = allJobs().flatMap(([name, job]) =>
      commandsOf(job)
        .filter(command => {
          const [, suite] = /^npm run suite -- (\w+)$/.exec(command) ?? []
          if (suite !== undefined) return suites[suite] === undefined
          const [, script] = /^npm run ([\w:]+)$/.exec(command) ?? /^npm (test)$/.exec(command) ?? []
          if (script !== undefined) return manifest.scripts[script] === undefined
          const [, folder] = /^npm ci(?: --prefix (\S+)| --ignore-scripts)?$/.exec(command) ?? []
          if (command.startsWith('npm ci')) return !existsSync(join(root, folder ?? '.', 'package-lock.json'))
          return !others.some(pattern => pattern.test(command))
        })
        .map(command => `${name}: ${command}`),
    )
    expect(wrong).to.deep.equal([])
  })

  it('use only actions of GitHub, by a commit beside its version, because a tag can be moved', () => {
    for (const name of names) {
      const uses = read(`.github/workflows/${name}.yml`)
        .split('\n')
        .filter(line => line.includes('uses:'))
      expect(uses, name).not.to.deep.equal([])
      for (const line of uses) expect(line, name).to.match(/uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    }
  })

  it('name only files that exist', () => {
    for (const [name, { steps }] of allJobs())
      for (const { with: inputs = {} } of steps) {
        const files = inputs['cache-dependency-path']
        if (typeof files !== 'string') continue
        for (const file of files.trim().split('\n'))
          expect(existsSync(join(root, file)), `${name}: ${file}`).to.equal(true)
      }
  })

  it('have a limit of time for each job, may only read unless they publish, and need only jobs that exist', () => {
    for (const name of names) expect(workflow(name).permissions, name).to.deep.equal({ contents: 'read' })
    for (const [name, job] of allJobs()) {
      expect(job['timeout-minutes'], name).to.be.within(5, 60)
      if (job.permissions !== undefined) expect(job.environment, name).not.to.equal(undefined)
      if (job.needs !== undefined)
        expect(allJobs().map(([each]) => each)).to.include(`${name.split(':')[0]}: ${job.needs}`)
    }
  })

  it('test on Node 20, 22, 24 and 26, the oldest of which the package supports', () => {
    expect(workflow('ci').jobs['test']?.strategy?.matrix['node']).to.deep.equal([20, 22, 24, 26])
    expect(manifest.engines.node).to.match(/^>=20\./)
  })

  it('run every command that .ci/run runs', () => {
    const commands = new Set(Object.values(workflow('ci').jobs).flatMap(commandsOf))
    const local = read('.ci/run')
      .split('\n')
      .filter(line => line.startsWith('npm '))
    expect(local.filter(command => !commands.has(command))).to.deep.equal([])
  })

  it('publish only if a maintainer has switched that on', () => {
    expect(workflow('site').jobs['build']?.if).to.equal("vars.PUBLISH_SITE == 'true'")
    expect(workflow('release').jobs['test']?.if).to.equal("vars.PUBLISH_PACKAGE == 'true'")
    for (const variable of ['PUBLISH_SITE', 'PUBLISH_PACKAGE']) expect(read('docs/publishing.md')).to.include(variable)
  })

  it('give the token that publishes to a job that runs no code of the repository or of a dependency', () => {
    for (const [name, { permissions = {}, steps }] of allJobs()) {
      if (permissions['id-token'] === undefined) continue
      const uses = steps.flatMap(step => step.uses ?? []).map(action => action.replace(/@.*/, ''))
      expect(uses, name).to.satisfy((all: string[]) =>
        all.every(each => /setup-node$|download-artifact$|deploy-pages$/.test(each)),
      )
      for (const command of commandsOf({ steps, 'timeout-minutes': 0 }))
        expect(command, name).to.match(/^npm publish .*--ignore-scripts/)
    }
  })

  it('publish the package with its provenance, from the tag of its version only', async () => {
    const { publish, pack } = workflow('release').jobs as Record<string, Job>
    expect(publish?.permissions).to.deep.equal({ 'id-token': 'write' })
    expect([publish?.needs, pack?.needs]).to.deep.equal(['pack', 'test'])
    const commands = commandsOf(pack as Job)
    const run = (command = '', environment: Record<string, string> = {}, cwd = root) =>
      promisify(execFile)('bash', ['-c', command], { cwd, env: { ...process.env, ...environment } })
    const compare = commands.find(command => command.startsWith('test '))
    await run(compare, { GITHUB_REF_NAME: `v${manifest.version}` })
    expect(await run(compare, { GITHUB_REF_NAME: 'v0.0.1' }).catch((error: unknown) => error)).to.include({ code: 1 })
    const folder = await mkdtemp(join(tmpdir(), 'zkwire-release-'))
    try {
      await cp(join(root, 'package.json'), join(folder, 'package.json'))
      const name = commands.find(command => command.startsWith('npm pkg '))
      await run(name, { GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'owner/zkwire' }, folder)
      const changed = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
      expect(changed['repository']).to.deep.include({ url: 'git+https://github.example/owner/zkwire.git' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('the forms for issues', () => {
  const forms = readdirSync(join(root, '.github/ISSUE_TEMPLATE')).filter(file => file !== 'config.yml')

  for (const file of forms)
    it(`${file} has a name, a description, and fields with unique ids and labels`, () => {
      const form = readYaml(read(`.github/ISSUE_TEMPLATE/${file}`)) as {
        name: string
        description: string
        body: { type: string; id?: string; attributes: { label?: string; value?: string } }[]
      }
      expect(form.name).to.match(/^\w/)
      expect(form.description).to.match(/^\w/)
      const fields = form.body.filter(({ type }) => type !== 'markdown')
      expect(new Set(fields.map(({ id }) => id)).size).to.equal(fields.length)
      for (const { type, id, attributes } of fields) {
        expect(['input', 'textarea', 'dropdown', 'checkboxes']).to.include(type)
        expect(id).to.match(/^[\w-]+$/)
        expect(attributes.label).to.match(/^\w/)
      }
    })

  it('say where to report a vulnerability', () => {
    expect(read('.github/ISSUE_TEMPLATE/bug.yml')).to.include('SECURITY.md')
    expect(read('SECURITY.md')).to.include('Report a vulnerability')
  })
})
