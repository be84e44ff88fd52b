// SPDX-License-Identifier: MIT
// The program that owns the precompiled headers of the tests, which are programs, too.
int main() {
    return 0;
}
