import {readFileSync} from 'node:fs'

/** Places and transports of the client: no modules of its API. */
const NO_MODULES: ReadonlySet<string> = new Set([
  'apiClient',
  'parentClient',
  'httpOptions',
  'webSocketFactory',
  'auth',
  'sdk',
])
const TYPES = readFileSync(new URL('../../../node_modules/@google/genai/dist/genai.d.ts', import.meta.url), 'utf8')

/** Every public method of `@google/genai`'s modules: what the client has, without what its types call private. */
export function googleMethods(client: object): readonly string[] {
  const seen = new Set<object>()
  const found: string[] = []
  const walk = (module: Readonly<Record<string, unknown>>, path: readonly string[]) => {
    if (seen.has(module)) return
    seen.add(module)
    const classes = classesOf(module)
    const hidden = new Set(classes.flatMap(made => privateOf(made.constructor.name)))
    const names = [...Object.keys(module), ...classes.flatMap(made => Object.getOwnPropertyNames(made))]
    for (const name of new Set(names)) {
      if (name === 'constructor' || hidden.has(name) || NO_MODULES.has(name)) continue
      const value = module[name]
      if (typeof value === 'function') found.push([...path, name].join('.'))
      else if (typeof value === 'object' && value !== null && classesOf(value).length > 0)
        walk(value as typeof module, [...path, name])
    }
  }
  // Looking at an experimental module makes the client warn.
  const {warn} = console
  console.warn = () => undefined
  walk(client as Readonly<Record<string, unknown>>, [])
  console.warn = warn
  return found
}

function classesOf(value: object): readonly object[] {
  const classes: object[] = []
  for (
    let made = Object.getPrototypeOf(value) as object | null;
    made && made !== Object.prototype && made !== Array.prototype;
  )
    [classes[classes.length], made] = [made, Object.getPrototypeOf(made) as object | null]
  return classes
}

function privateOf(name: string): readonly string[] {
  const block = new RegExp(`^(?:export )?declare class ${name}\\b[^]*?^\\}`, 'm').exec(TYPES)?.[0] ?? ''
  return [...block.matchAll(/^ {4}(?:private|protected) (?:static )?(?:readonly )?(?:get )?(\w+)/gm)].map(
    ([, member]) => member!,
  )
}
