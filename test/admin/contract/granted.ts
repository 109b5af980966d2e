import {DEVIATIONS} from '../contract-exceptions.ts'

/** What stands where an operation differs in what is granted and in nothing else. */
export const AS_GRANTED = {'not granted': [], 'granted for nothing': []}

/** What was found of an operation, against what is granted to it. */
export function against(operation: string, found: readonly string[]) {
  const granted = DEVIATIONS.flatMap(({operations, differs}) => (operations.includes(operation) ? differs : []))
  return {
    'not granted': found.filter(one => !granted.some(each => isSaidBy(each, one))),
    'granted for nothing': granted.filter(each => !found.some(one => isSaidBy(each, one))),
  }
}

function isSaidBy(granted: string, found: string): boolean {
  const [start = '', end] = granted.split('*')
  return end === undefined ? found === granted : found.startsWith(start) && found.endsWith(end)
}
