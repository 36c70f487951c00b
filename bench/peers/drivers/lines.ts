// The programs whose sessions contend for the locks, one for each client library. A program reads commands from its
// standard input, one in a line, and prints what happens to its contenders. All programs have the same commands:
//
//     open CONTENDER HOST:PORT TIMEOUT            opens a session; TIMEOUT in ms
//     join CONTENDER RECIPE PATH PATIENCE         begins to acquire; gives up after PATIENCE ms unless it is 0
//     leave CONTENDER                             releases what the contender holds
//     close CONTENDER                             closes the session
//
// A printed line has a word, the number of the contender, the time in ns of CLOCK_MONOTONIC, and for `failed` a
// message. The words are opened, joining, held, gaveup, leaving, left, closed and failed.
// May import: src/index.ts, src/recipes/index.ts.
import { createInterface } from 'node:readline'

/** The session of one contender. */
export interface ContenderSession {
  /** Resolves with the function that releases the lock, or with undefined if `patience` ms have passed. */
  acquire(recipe: string, path: string, patience: number): Promise<(() => Promise<void>) | undefined>
  close(): Promise<void>
}

/** Executes the commands until the standard input ends, and then ends this process. */
export async function serve(open: (address: string, timeout: number) => Promise<ContenderSession>): Promise<never> {
  const sessions = new Map<string, ContenderSession>()
  const releases = new Map<string, () => Promise<void>>()

  const execute = async ([command, who = '', ...words]: string[]): Promise<void> => {
    const say = (word: string) => console.log(`${word} ${who} ${process.hrtime.bigint()}`)
    if (command === 'open') {
      sessions.set(who, await open(words[0] ?? '', Number(words[1])))
      say('opened')
    } else if (command === 'join') {
      say('joining')
      const release = await sessions.get(who)?.acquire(words[0] ?? '', words[1] ?? '', Number(words[2]))
      if (release !== undefined) releases.set(who, release)
      say(release === undefined ? 'gaveup' : 'held')
    } else if (command === 'leave') {
      say('leaving')
      await releases.get(who)?.()
      say('left')
    } else if (command === 'close') {
      await sessions.get(who)?.close()
      say('closed')
    }
  }

  for await (const line of createInterface({ input: process.stdin })) {
    const words = line.split(' ')
    void execute(words).catch((error: unknown) =>
      console.log(`failed ${words[1]} ${process.hrtime.bigint()} ${String(error).replaceAll('\n', ' ')}`),
    )
  }
  process.exit()
}
