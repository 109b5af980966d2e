import {camel, singular} from './names.ts'
import {NONE, type Shape} from './operation-shape.ts'
import {template} from './template.ts'

/** A file that holds a new group of commands, with this one in it. */
export function groupFile(shape: Shape): string {
  const [group, word] = shape.command
  // `delete` is no name of a function
  const name = word === 'delete' ? 'remove' : camel(word)
  return template('command-group.ts', {group, camel: camel(group), name, leaf: leafOf(shape, name)})
}

/** A file that holds one command, for a group that there is. */
export function commandFile(shape: Shape): string {
  return template('command.ts', {leaf: leafOf(shape, camel(shape.stem))})
}

function leafOf({id, noun, param, has_body, command}: Shape, name: string): string {
  const takes: readonly (readonly [name: string, meaning: string, example: string])[] = [
    ...(param ? [['id', `id of the ${singular(noun).replaceAll('_', ' ')}`, NONE] as const] : []),
    ...(has_body ? [['name', 'its name', 'search'] as const] : []),
  ]
  const input = [...(param ? [`params: {${param}: id}`] : []), ...(has_body ? ['body: {name}'] : [])].join(', ')
  return template('command-leaf.ts', {
    ...{id, name, word: command[1]},
    example: ['gateway', ...command, ...takes.map(([, , example]) => example)].join(' '),
    values: takes.map(([taken, meaning]) => `    .argument('<${taken}>', '${meaning}')\n`).join(''),
    given: [...takes.map(([taken]) => `${taken}: string`), '_: object', 'self: Command'].join(', '),
    input: input ? `, {${input}}` : '',
  }).trimEnd()
}
