#!/usr/bin/env node
import { hookProgram } from "./hook-program.ts";

void hookProgram(process.argv.slice(2));
