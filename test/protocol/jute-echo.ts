// The replies of JuteEcho.java.
import { JavaProgram } from '../../environment/java-program.ts'

/** A record: its tags in the order in which they are written, each with a type or a value. */
export type Tagged = [tag: string, value: TaggedValue][]
export type TaggedValue = string | number | boolean | null | { vector: TaggedValue[] } | Tagged

export const startJuteEcho = (): Promise<JavaProgram> => JavaProgram.start(new URL('JuteEcho.java', import.meta.url))
