import {afterAll, beforeAll} from 'vitest'
import {CROSSED, PLAIN, rowsOf} from './endings.ts'
import {testGoldens} from './files.ts'
import {OTHER_ROUTES, TEXT_ROUTES} from './routes.ts'
import {openScene, type Scene} from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const ROUTES = [...TEXT_ROUTES, ...OTHER_ROUTES]
testGoldens(
  'wire',
  Object.fromEntries(ROUTES.map(route => [route.name, rowsOf(route, {...PLAIN, ...CROSSED})])),
  () => scene,
)
