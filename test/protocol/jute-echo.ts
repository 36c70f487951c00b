// What JuteEcho.java answers.
import { JavaProgram } from '../support/java-program.ts'

/** A record: its tags in the order they are written, each with a kind or a value. */
export type Tagged = [tag: string, what: Told][]
export type Told = string | number | boolean | null | { vector: Told[] } | Tagged

export const startJuteEcho = (): Promise<JavaProgram> => JavaProgram.start(new URL('JuteEcho.java', import.meta.url))
