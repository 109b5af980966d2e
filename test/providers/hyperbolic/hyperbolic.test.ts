import {hyperbolic} from '../../../src/providers/hyperbolic/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(hyperbolic, {imageGenerate: 3})
testHostile(hyperbolic, ['imageGenerate'])
