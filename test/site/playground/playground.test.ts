import { expect } from 'chai'
import { LESSONS } from '../../../site/lessons/index.ts'
import { answerOf } from '../../../site/lessons/lesson.ts'
import { linkOf } from '../../../site/world/story-link.ts'
import { LIMITS, type Story } from '../../../site/world/story.ts'
import { startInProcess } from '../support/in-process-world.ts'
import { Playground } from '../../../site/playground/model/playground.ts'

const START: Story = { scenario: { recipe: 'mutex', clients: 3, servers: 1, seed: 2 }, commands: [], frames: 0 }

describe('the state of the playground', () => {
  const open = (link = '') => Playground.open(link, START, startInProcess)

  it('goes a frame forward and back, and is then as before', async () => {
    const playground = await open()
    await playground.settle()
    await playground.forward()
    const before = playground.picture
    await playground.forward()
    expect(playground.frames).to.have.length(before.story.frames + 1)
    expect(playground.said).to.match(/^Frame \d+: /)
    await playground.back()
    expect(playground.picture.clients).to.deep.equal(before.clients)
    expect(playground.frames).to.have.length(before.story.frames)
  })

  it('opens what its link says', async () => {
    const playground = await open()
    await playground.settle()
    await playground.act({ kind: 'kill', client: 1 })
    const other = await open(playground.link)
    expect(other.story).to.deep.equal(playground.story)
    expect(linkOf(other.story)).to.equal(playground.link)
  })

  it('stays where it is, and says why, if a link cannot be read', async () => {
    const playground = await open('not-a-link')
    expect(playground.error).to.match(/\w+ \w+/)
    expect(playground.story).to.deep.equal(START)
  })

  it('says why it refuses a command, until the next one is done', async () => {
    const playground = await open()
    await playground.settle()
    const call = (path: string) => playground.act({ kind: 'call', client: 1, call: { op: 'get', path, watch: false } })
    await call('/a/..')
    expect(playground.error).to.match(/cannot be done/)
    expect(playground.said).to.equal(playground.error)
    expect(() => playground.link).not.to.throw()
    await call('/a')
    expect(playground.error).to.equal(undefined)
  })

  it('pauses, and says why, when the story is as long as one can be', async () => {
    const scenario = { ...START.scenario, clients: 60 }
    const playground = await open(linkOf({ scenario, commands: [], frames: LIMITS.frames }))
    expect(playground.view.world.isFull).to.equal(true)
    playground.play()
    await playground.tick(100, false)
    expect(playground.playing).to.equal(false)
    expect(playground.error).to.match(/20,000 frames/)
  })

  it('lets a frame fly between two whole milliseconds', async () => {
    const playground = await open()
    await playground.forward()
    const { view } = playground
    const start = view.now
    playground.play()
    await playground.tick(50, false)
    expect(view.now - start).to.be.closeTo(0.3, 1e-9)
    expect(view.flying).to.have.length(playground.frames.length)
    for (let i = 0; i < 40; i++) await playground.tick(50, false)
    expect(view.now - start).to.be.above(5)
  })

  it('shows each frame while it flies, however fast it plays', async () => {
    const playground = await open()
    for (let i = 0; i < 9; i++) playground.changeSpeed(1)
    const seen = new Set<number>()
    playground.play()
    while (playground.frames.length < 60) {
      await playground.tick(100, false)
      for (const { n } of playground.view.flying) seen.add(n)
    }
    expect(seen.size).to.equal(playground.frames.length)
  })

  it('plays a frame at a time in reduced motion', async () => {
    const playground = await open()
    playground.play()
    await playground.tick(100, true)
    expect(playground.frames).to.have.length(0)
    for (let i = 0; i < 6; i++) await playground.tick(100, true)
    expect(playground.frames).to.have.length(1)
  })

  it('opens a lesson by its link, and leaves it when another scenario is started', async () => {
    const [lesson] = LESSONS
    const playground = await open(`lesson=${lesson?.id}`)
    expect(playground.lessons.shown?.id).to.equal(lesson?.id)
    expect(playground.link).to.equal(`lesson=${lesson?.id}.1`)
    await playground.start(START.scenario)
    expect(playground.lessons.shown).to.equal(undefined)
    expect(playground.frames).to.have.length(0)
  })

  it('opens each step of a lesson by its link, with the picture that the steps before lead to', async () => {
    for (const lesson of LESSONS) {
      const reader = await open(`lesson=${lesson.id}`)
      for (let step = 1; ; step++) {
        const opened = await open(reader.link)
        expect(opened.error).to.equal(undefined)
        expect(reader.lessons.shown?.step).to.equal(step)
        expect(opened.lessons.shown).to.deep.equal(reader.lessons.shown)
        expect(opened.picture).to.deep.equal(reader.picture)
        if (step === lesson.steps.length) break
        const question = lesson.steps[step - 1]?.question
        if (question !== undefined) await atOnce(reader, reader.lessons.choose(answerOf(question)))
        await atOnce(reader, reader.lessons.next())
      }
    }
  })

  it('refuses the link of a step that does not exist, and says why', async () => {
    for (const part of [
      'herd.0',
      'herd.99',
      'herd.01',
      'herd.1.1',
      'herd.',
      'herd.-1',
      'herd.1e1',
      'none',
      '',
      'toString.1',
    ]) {
      const playground = await open(`lesson=${part}`)
      expect(playground.error, part).to.match(/^The (step|lesson) of the link .*\.$|^The link is damaged\.$/)
      expect(playground.lessons.shown, part).to.equal(undefined)
      expect(playground.story, part).to.deep.equal(START)
    }
  })

  it('stops a program that the reader wants to run no longer, and judges what it has done', async () => {
    const playground = await open()
    playground.write('enter(); while (true) await sleep(1)')
    playground.onChange(() => playground.stop())
    await playground.run()
    expect(playground.isRunning).to.equal(false)
    expect(playground.picture.now).to.equal(1000)
    expect(playground.editor.verdictOn(playground.view.world)).to.deep.include({ entries: 3, unfinished: [1, 2, 3] })
    expect(playground.error).to.equal(undefined)
  })

  it('plays the answer of a lesson frame by frame, while real time passes', async () => {
    const herd = LESSONS.find(({ id }) => id === 'herd') ?? expect.fail()
    const playground = await open('lesson=herd')
    const before = playground.frames.length
    const answer = answerOf(herd.steps[0]?.question ?? expect.fail())
    const state = { isOver: false }
    const chosen = playground.lessons.choose(answer).then(() => (state.isOver = true))
    const counts = new Set<number>()
    while (!state.isOver) {
      await playground.tick(100, false)
      await new Promise(resolve => setImmediate(resolve))
      counts.add(playground.frames.length)
    }
    await chosen
    expect(playground.frames.length).to.be.above(before + 30)
    expect(counts.size).to.be.above(5)
    expect(playground.lessons.shown?.question?.answer?.choice).to.equal(answer)
  })
})

/** Shows at once what the lesson plays, as the page does in reduced motion. */
async function atOnce(playground: Playground, played: Promise<void>): Promise<void> {
  const state = { isOver: false }
  void played.then(() => (state.isOver = true))
  while (!state.isOver) {
    await playground.tick(100, true)
    await new Promise(resolve => setImmediate(resolve))
  }
}
