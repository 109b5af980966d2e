import {Refusal} from '../../base/errors.ts'
import type {ServerTool} from '../../schema/server-tools.ts'
import {functionName, functionPrefix} from './labels.ts'

/** A server as a request names it, and which of its tools it wants. */
export interface ServerChoice {
  readonly label: string
  readonly slug: string
  /** The member of the request that names it, for errors. */
  readonly field: string
  allows(tool: string): boolean
}

/** A tool that the model knows as a function. */
export interface RunFunction {
  readonly function_name: string
  readonly choice: ServerChoice
  readonly tool: ServerTool
}

/** The tools of servers that a run offers to its model, by the names of their functions. */
export class RunOffer {
  readonly #by_name = new Map<string, RunFunction>()
  readonly #names = new Map<string, string>()
  readonly #own: ReadonlySet<string>
  readonly choices: readonly ServerChoice[]

  /** `own`: the functions of the client. Throws `body.invalid` where it has one of the same name. */
  constructor(
    listed: readonly {readonly choice: ServerChoice; readonly tools: readonly ServerTool[]}[],
    own: ReadonlySet<string>,
  ) {
    this.#own = own
    this.choices = listed.map(({choice}) => choice)
    for (const {choice, tools} of listed) {
      for (const tool of tools.filter(({name}) => choice.allows(name))) {
        const plain = functionName(choice.slug, tool.name)
        const name = this.#by_name.has(plain) ? functionName(choice.slug, tool.name, true) : plain
        if (own.has(name))
          throw new Refusal('body.invalid', {
            issues: `tools: the function ${name} has the name of a tool of ${choice.label}. Give it another name.`,
          })
        this.#by_name.set(name, {function_name: name, choice, tool})
        this.#names.set(`${choice.slug}\n${tool.name}`, name)
      }
    }
  }

  /** Undefined for a function of the client, and for one that was not offered. */
  find(name: string): RunFunction | undefined {
    return this.#by_name.get(name)
  }

  /** True for a function that the client does not have: it is offered, or the model made it up. */
  owns(name: string): boolean {
    if (this.#by_name.has(name)) return true
    return !this.#own.has(name) && this.choices.some(({slug}) => name.startsWith(functionPrefix(slug)))
  }

  /** The server of a function that was not offered, and the rest of its name. */
  guess(name: string): {readonly label: string; readonly tool: string} {
    const choice = this.choices.find(({slug}) => name.startsWith(functionPrefix(slug)))
    return choice
      ? {label: choice.label, tool: name.slice(functionPrefix(choice.slug).length)}
      : {label: '', tool: name}
  }

  /** The name of a tool's function, also of one that is not offered any more. */
  functionOf(slug: string, tool: string): string {
    return this.#names.get(`${slug}\n${tool}`) ?? functionName(slug, tool)
  }

  of(label: string): readonly RunFunction[] {
    return [...this.#by_name.values()].filter(({choice}) => choice.label === label)
  }
}
