//! A tap is told each character with the index of its last byte.

use cuesta_screen::vt::{Printed, Screen, Tap};

/// The characters that a tap is told, each with the index of its byte.
#[derive(Default)]
struct Characters(Vec<(char, usize)>);

impl Tap for Characters {
    fn printed(&mut self, printed: Printed) {
        self.0.push((printed.character, printed.at));
    }
}

#[test]
fn each_character_comes_with_the_index_of_its_last_byte() {
    let mut characters = Characters::default();
    let mut screen = Screen::new(4, 2);
    screen.feed_frame("a\x1b[1mbé\r\ncdefg\x1b(0q".as_bytes(), &mut characters);
    let wanted = [('a', 0), ('b', 5), ('é', 7), ('c', 10), ('d', 11), ('e', 12), ('f', 13), ('g', 14), ('─', 18)];
    assert_eq!(characters.0, wanted);
    // A character that is cut is told with the read that ends it.
    let mut characters = Characters::default();
    screen.feed_frame(&"漢".as_bytes()[..2], &mut characters);
    screen.feed_frame(&"漢".as_bytes()[2..], &mut characters);
    assert_eq!(characters.0, [('漢', 0)]);
}
